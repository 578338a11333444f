// The state that a server shares between its ports (http_server.cpp) and its connections (http_server_session.cpp).
#pragma once

#include "http1_reader.hpp"
#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/net/http/http_server.hpp"
#include "net/tls/socket_stream.hpp"
#include "occupancy.hpp"

namespace kube::net {

struct HttpServer::Impl : std::enable_shared_from_this<Impl> {
  /// One connection; lives in its coroutine.
  struct Session : ServerConnection {
    Http1Reader<true> reader;
    bool idle = true;           ///< between requests: may be closed at any time
    bool without_room = false;  ///< its request does not fit in
    bool forgotten = false;     ///< a certificate that it showed counts no more, see forget_clients()
  };
  class Answer;

  Impl(asio::any_io_executor on, async::Clock& time, HttpServerOptions given, HttpHandler use)
      : executor(on),
        clock(time),
        options(std::move(given)),
        handler(std::move(use)),
        connections(on, async::TaskGroup::OnFailure::keep_others),
        occupancy(options.max_connections, options.max_known, options.max_held),
        ended(on) {}

  /// A port that is listened on.
  struct Listener {
    explicit Listener(const asio::any_io_executor& on) : acceptor(on) {}
    void close() {
      boost::system::error_code ignored;
      acceptor.close(ignored);
      open = false;
    }
    tcp::acceptor acceptor;
    std::uint16_t port = 0;
    bool open = true;
  };
  Result<std::uint16_t> open_listener(std::uint16_t port);
  asio::awaitable<void> accept_loop(std::shared_ptr<Listener> listener);
  asio::awaitable<void> session(tcp::socket socket);
  /// Where a connection came from, and to which port.
  struct Caller {
    std::string address;
    std::uint16_t port;
  };
  asio::awaitable<void> serve_requests(Session& session, const Caller& caller, const std::optional<PeerIdentity>& peer);
  asio::awaitable<bool> serve_one(Session& session, ServerRequest request, bool keep_alive);
  asio::awaitable<void> handle(const ServerRequest& request, Answer& answer, async::TaskGroup& group);
  asio::awaitable<std::optional<Result<void>>> read_head(Session& session, bool first);
  /// Why a request is not served.
  struct Refusal {
    int status = 0;  ///< 0 = nothing is answered, and the connection ends
    std::string why;
  };
  /// Takes a request whose header has come; `request` says where it came from.
  asio::awaitable<std::expected<ServerRequest, Refusal>> take_request(Session& session, ServerRequest request) const;
  asio::awaitable<std::expected<ServerRequest, Refusal>> read_request(Session& session, ServerRequest request) const;
  asio::awaitable<void> refuse(Session& session, Refusal refusal);

  asio::any_io_executor executor;
  async::Clock& clock;
  HttpServerOptions options;
  HttpHandler handler;
  std::vector<std::shared_ptr<Listener>> listeners;  ///< that of listen() first
  async::TaskGroup connections;
  Occupancy occupancy;
  async::Event ended;
  bool stopping = false;
  bool serving = false;
  HttpServerCounters counters;
};

}  // namespace kube::net
