// From a server's URL to a connection: name look-up, TCP, TLS.
#pragma once

#include <map>

#include "kube/async/clock.hpp"
#include "kube/async/task_group.hpp"
#include "kube/wire/server_url.hpp"
#include "socket_stream.hpp"

namespace kube::net {

struct Dialed {
  std::unique_ptr<ByteStream> stream;
  bool http2 = false;
};

/// Makes connections. Name look-ups that nobody waits for any longer go on in `group`, since they cannot be stopped;
/// joining it waits for them (as long as the system's resolver takes). One thread.
class Dialer {
 public:
  Dialer(asio::any_io_executor executor, async::Clock& clock, async::TaskGroup& group)
      : executor_(std::move(executor)), clock_(clock), group_(group) {}

  /// Tries every address of the server until the deadline; with TLS where a context is given. Failures: Errc::connect,
  /// Errc::tls, Errc::timeout; the text names host, port and cause.
  asio::awaitable<Result<Dialed>> dial(wire::ServerUrl server, const TlsContext* tls, std::string tls_server_name,
                                       bool offer_http2, Deadline deadline, std::shared_ptr<Traffic> traffic);

 private:
  struct Lookup;
  using Addresses = std::vector<asio::ip::address>;
  asio::awaitable<Result<Addresses>> resolve(std::string host, Deadline deadline);
  asio::awaitable<void> look_up(std::shared_ptr<Lookup> lookup, std::string host);
  asio::awaitable<Result<tcp::socket>> connect(const wire::ServerUrl& server, const Addresses& addresses,
                                               Deadline deadline);

  asio::any_io_executor executor_;
  async::Clock& clock_;
  async::TaskGroup& group_;
  std::map<std::string, std::shared_ptr<Lookup>> lookups_;  ///< those under way
};

}  // namespace kube::net
