// An HTTP/1.1 server: the kubelet's HTTPS port, admission webhooks, metrics and health. Handlers are coroutines;
// answers are sent whole or streamed; a connection may be taken over by an upgrade.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/async/clock.hpp"
#include "kube/net/tls/tls.hpp"
#include "kube/net/transport.hpp"

namespace kube::net {

/// Who a client is by its verified certificate.
struct PeerIdentity {
  std::string common_name;
  std::vector<std::string> organizations;
};

/// One request, read to its end.
struct ServerRequest {
  std::string method;
  std::string target;  ///< as sent: path and query, percent-encoded
  HttpHeaders headers;
  std::string body;
  std::string peer_address;          ///< IP address, without the port
  std::uint16_t port = 0;            ///< of this server, that the connection came to
  std::optional<PeerIdentity> peer;  ///< set if a client certificate was shown and verified

  /// The first value of that header, compared without regard to ASCII case; "" if there is none.
  std::string_view header(std::string_view name) const;
};

/// The answer under way: exactly one of send(), start() with write()s, or upgrade(). A handler that returns before any
/// of them answers 500; one that returns after start() ends the body, unless it calls abort(). Failures: Errc::closed
/// (the client has gone), Errc::invalid_input (a header that HTTP does not allow, or calls in another order).
class ServerResponse {
 public:
  using Headers = HttpHeaders;
  virtual ~ServerResponse() = default;

  /// The whole answer.
  virtual asio::awaitable<Result<void>> send(int status, Headers headers, std::string body) = 0;
  /// The head of a streamed answer (chunked). A client that goes, or sends 64 KiB ahead, then cancels the handler.
  virtual asio::awaitable<Result<void>> start(int status, Headers headers) = 0;
  /// More of the body, on its way when this returns; waits while the client does not read, for half a minute.
  virtual asio::awaitable<Result<void>> write(std::string_view bytes) = 0;
  /// From now on the client may stop reading for as long as it likes.
  virtual void be_patient() {}
  /// After start(): the rest of the body will never come. The connection ends without the body's last chunk, so that
  /// the client takes what it has for a part.
  virtual void abort() = 0;
  /// Answers 101 with these headers (`connection: Upgrade` is added) and hands the connection over.
  virtual asio::awaitable<Result<std::unique_ptr<ByteStream>>> upgrade(Headers headers) = 0;
  /// True once the head of an answer was sent.
  virtual bool started() const = 0;
  /// Counts memory that this request takes besides its bytes, e.g. for what is made of its body, against what the
  /// server may hold (HttpServerOptions::max_held), until the request is over. False: there is no room for it now.
  virtual bool hold(std::size_t bytes) = 0;
};

/// Answers one request. Both arguments live until it returns. What it throws is reported to
/// HttpServerOptions::on_handler_failure, and ends the answer (500 if none has begun). It is cancelled after the grace
/// of HttpServer::stop(), and when the client goes while a streamed answer is under way, which is then aborted.
using HttpHandler = std::function<asio::awaitable<void>(const ServerRequest&, ServerResponse&)>;

struct HttpServerOptions {
  std::string address;            ///< IP to listen on; "" = every address, IPv6 and IPv4
  std::uint16_t port = 0;         ///< 0 = the system picks one
  std::optional<TlsContext> tls;  ///< none = plain HTTP
  /// Connections that are open at the same time. A new one takes the place of the one that has kept the server waiting
  /// for longest: idle, in the middle of a handshake or request, or slow to take an answer. While all are busy, new
  /// ones are closed at once.
  std::size_t max_connections = 1024;
  /// Connections that are open at the same time and whose client certificate was verified: from then on they count here
  /// and not in max_connections. All streams of a cluster come from the few addresses of its API servers, so nobody
  /// without a certificate may take their room.
  std::size_t max_known = 1024;
  std::size_t max_body = 3U << 20;  ///< bytes of a request's body (413 beyond)
  /// Bytes of all requests that are being read or handled, headers included, and what handlers hold besides. Beyond it
  /// the oldest unfinished requests are given up; one that finds no room then is answered 503.
  std::size_t max_held = 32U << 20;
  Duration header_timeout =
      std::chrono::seconds(10);  ///< for the TLS handshake, for a header once it began, for the first one
  Duration body_timeout = std::chrono::seconds(60);  ///< for a request's body
  Duration idle_timeout = std::chrono::seconds(90);  ///< between requests
  /// Whether a client may ask at all: others are answered 401 as soon as their header is read, and their connection is
  /// closed. None = everybody may.
  std::function<bool(const std::optional<PeerIdentity>& peer)> admits;
  /// Called when a handler has thrown; `what` is reported nowhere else.
  std::function<void(std::string_view request_line, std::string_view what)> on_handler_failure;
};

/// What a server has done since it was made.
struct HttpServerCounters {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;             ///< closed at once, because all connections were busy
  std::uint64_t evicted = 0;             ///< closed to make room for others
  std::uint64_t without_room = 0;        ///< requests that were answered 503, because the server held too much
  std::uint64_t handshake_failures = 0;  ///< TLS
  std::uint64_t requests = 0;
  std::size_t connections = 0;  ///< open now
  std::size_t held = 0;         ///< bytes, see HttpServerOptions::max_held
};

/// Order of use: listen(), serve() in a task of the owner, stop() or cancellation of serve(). One thread.
class HttpServer {
 public:
  HttpServer(asio::any_io_executor executor, async::Clock& clock, HttpServerOptions options, HttpHandler handler);
  ~HttpServer();

  /// Opens the port and returns its number. Errors: Errc::invalid_input (no address), Errc::connect, e.g. "address in
  /// use".
  Result<std::uint16_t> listen();
  /// Opens one more port on the same address, now or while it serves, and returns its number. Connections to all ports
  /// count together. Errors: as listen(), and Errc::closed after stop().
  Result<std::uint16_t> open(std::uint16_t port);
  /// Closes a port that open() has opened: it takes no more connections, and those that it has taken stay.
  void close(std::uint16_t port);
  /// Accepts and serves until stop(); returns when the last connection has ended. Cancelling it ends every connection.
  asio::awaitable<void> serve();
  /// Accepts no more, lets requests under way finish for at most `grace`, then ends them. Waits for serve().
  asio::awaitable<void> stop(Duration grace);
  /// New connections use the new settings (certificate, client CA); only for a server with TLS.
  void replace_tls(TlsContext context);
  /// Trusts no client certificate any more that was verified until now, e.g. after another client CA. Requests under
  /// way still get their answer, and then their connections end.
  void forget_clients();
  HttpServerCounters counters() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kube::net
