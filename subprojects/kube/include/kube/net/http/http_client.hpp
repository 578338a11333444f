// The real Transport: HTTP/2 over TLS to one API server, HTTP/1.1 if the server has no better, and upgrades.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kube/async/clock.hpp"
#include "kube/net/auth/credentials.hpp"
#include "kube/net/resolver.hpp"
#include "kube/net/transport.hpp"

namespace kube::net {

struct HttpClientOptions {
  std::string user_agent = "kube-cpp";
  Duration dial_timeout = std::chrono::seconds(10);  ///< look-up, TCP and TLS together
  Duration ping_after = std::chrono::seconds(10);    ///< silence after which the server is pinged
  Duration ping_timeout = std::chrono::seconds(10);  ///< silence after the ping that ends the connection
  Duration first_backoff =
      std::chrono::milliseconds(100);              ///< after a failed dial requests fail at once for this long,
  Duration max_backoff = std::chrono::seconds(5);  ///< doubling up to this, with jitter
  /// Connections for requests, as many again for requests with a fence, and those for open-ended requests
  /// (HttpRequest); upgraded ones do not count. More than one of a use is needed if streams fill the server's limit, or
  /// without HTTP/2.
  std::size_t max_request_connections = 32, max_watch_connections = 128;
  std::optional<std::uint64_t> seed;   ///< of the jitter; not set: one that no other client has
  std::shared_ptr<Resolver> resolver;  ///< of names; null = the system's
};

/// What a client has done since it was made; bytes are those on the HTTP layer, upgraded connections included.
struct HttpClientCounters {
  std::uint64_t requests = 0;          ///< sends and upgrades asked for
  std::uint64_t repeats = 0;           ///< sent once more after a connection broke or refused
  std::uint64_t connects = 0;          ///< connections made
  std::uint64_t connect_failures = 0;  ///< dials that failed
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  /// What is open now: connections (those that are being given up, too), and requests under way over them.
  struct Use {
    std::size_t connections = 0, streams = 0;
  };
  Use by_requests, by_watches;
};

/// Makes connections when they are needed. One thread.
///
/// Guarantees: one HTTP/2 connection carries all requests, as long as the server's limit of streams lets it. Requests
/// with a fence (HttpRequest::may_send) have another one, and open-ended ones a third, so that any number of watches
/// leaves room for requests. A request whose fence falls while it is under way is given up within a tenth of a second
/// (Errc::stopped), and its connection is reset. What has not left this machine by then never does; what has may still
/// be carried out. A GOAWAY or new credentials move new requests to a new connection. A plugin that makes the
/// credentials is asked before the first request, after they have expired, and once for a request that was refused
/// (401), upgrades included.
///
/// Failures: if all connections of a use are full, a request waits in line for room until its deadline, and a watch
/// fails. While the server cannot be reached, requests fail at once with the last cause, apart from one dial per
/// backoff interval.
///
/// Lifetime: stop() must be awaited before the client is destroyed.
class HttpClient final : public Transport, public Upgrader {
 public:
  HttpClient(asio::any_io_executor executor, async::Clock& clock, std::shared_ptr<Credentials> credentials,
             HttpClientOptions options = {});
  ~HttpClient() override;

  asio::awaitable<Result<Response>> send(HttpRequest request, Deadline deadline) override;
  asio::awaitable<Result<Upgraded>> upgrade(HttpRequest request, Deadline deadline) override;
  /// Closes all HTTP/2 and idle connections and waits for the client's own tasks; requests over HTTP/2 fail with
  /// Errc::stopped. HTTP/1.1 requests and upgraded connections end with their owners.
  asio::awaitable<void> stop();

  HttpClientCounters counters() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kube::net
