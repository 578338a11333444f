// From a server's URL to a connection: name look-up, TCP, TLS.
#pragma once

#include "kube/async/clock.hpp"
#include "kube/net/resolver.hpp"
#include "kube/wire/server_url.hpp"
#include "net/tls/socket_stream.hpp"

namespace kube::net {

struct Dialed {
  std::unique_ptr<ClientStream> stream;
  bool http2 = false;
};

/// Makes connections. One thread.
class Dialer {
 public:
  Dialer(asio::any_io_executor executor, async::Clock& clock, std::shared_ptr<Resolver> resolver)
      : executor_(std::move(executor)), clock_(clock), resolver_(std::move(resolver)) {}

  /// Tries the addresses of the server until the deadline, each a quarter of a second after the one before, so that
  /// dead ones do not use up the time; the first that answers is taken. Without `tls` the connection is a plain one.
  /// Errors: Errc::connect, Errc::tls, Errc::timeout; the text names host, port and cause.
  asio::awaitable<Result<Dialed>> dial(wire::ServerUrl server, std::optional<ClientTls> tls, Deadline deadline,
                                       std::shared_ptr<Traffic> traffic);

 private:
  struct Race;
  asio::awaitable<Result<Resolver::Addresses>> resolve(std::string host, Deadline deadline);
  asio::awaitable<Result<tcp::socket>> connect(const wire::ServerUrl& server, const Resolver::Addresses& addresses,
                                               Deadline deadline);

  asio::any_io_executor executor_;
  async::Clock& clock_;
  std::shared_ptr<Resolver> resolver_;
};

}  // namespace kube::net
