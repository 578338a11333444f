#include "kube/net/http_server.hpp"

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/status.hpp>

#include "http1_reader.hpp"
#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/async/timeout.hpp"
#include "occupancy.hpp"
#include "prefixed_stream.hpp"
#include "socket_stream.hpp"

namespace kube::net {

using boost::system::error_code;

namespace {

/// A peer that sends ahead while its answer is streamed is read this far, and given up beyond: nobody would see it go.
constexpr std::size_t max_read_ahead = 64U << 10;
/// A body up to this length grows as it comes.
constexpr std::size_t short_body = 64U << 10;

std::string head_text(int status, const ServerResponse::Headers& headers) {
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  std::string text = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason) + "\r\n";
  for (const auto& [name, value] : headers) {
    text += name + ": ";
    // What a handler passes on from elsewhere must not end the line.
    for (const char c : value)
      if (c != '\r' && c != '\n' && c != '\0') text += c;
    text += "\r\n";
  }
  return text;
}

}  // namespace

std::string_view ServerRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

struct HttpServer::Impl : std::enable_shared_from_this<Impl> {
  /// One connection; lives in its coroutine.
  struct Session : Guest {
    Http1Reader<true> reader;
    bool idle = true;           ///< between requests: may be closed at any time
    bool without_room = false;  ///< its request does not fit in
  };
  class Answer;

  Impl(asio::any_io_executor on, async::Clock& time, HttpServerOptions given, HttpHandler use)
      : executor(on),
        clock(time),
        options(std::move(given)),
        handler(std::move(use)),
        connections(on, async::TaskGroup::OnFailure::keep_others),
        occupancy(options.max_connections, options.max_known, options.max_held),
        stopped(on),
        ended(on) {}

  /// A port that is listened on.
  struct Door {
    explicit Door(const asio::any_io_executor& on) : acceptor(on) {}
    void close() {
      error_code ignored;
      acceptor.close(ignored);
      open = false;
    }
    tcp::acceptor acceptor;
    std::uint16_t port = 0;
    bool open = true;
  };
  Result<std::uint16_t> open_door(std::uint16_t port);
  asio::awaitable<void> accept_loop(std::shared_ptr<Door> door);
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
  std::vector<std::shared_ptr<Door>> doors;  ///< that of listen() first
  async::TaskGroup connections;
  Occupancy occupancy;
  async::Event stopped;
  async::Event ended;
  bool stopping = false;
  bool serving = false;
  HttpServerCounters counters;
};

/// The answer to one request on its connection.
class HttpServer::Impl::Answer final : public ServerResponse {
 public:
  Answer(Impl& impl, Session& session, async::TaskGroup& group, bool head_only, bool chunks, bool keep_alive)
      : impl_(impl),
        session_(session),
        group_(group),
        head_only_(head_only),
        chunks_(chunks),
        keep_alive_(keep_alive) {}

  asio::awaitable<Result<void>> send(int status, Headers headers, std::string body) override {
    if (started_) co_return fail(Errc::invalid_input, "an answer was begun before");
    started_ = finished_ = true;
    std::string text = head_text(status, headers);
    if (status != 204 && status != 304) text += "content-length: " + std::to_string(body.size()) + "\r\n";
    if (!keep_alive_) text += "connection: close\r\n";
    text += "\r\n";
    if (!head_only_) text += body;
    // Nothing is left to do but to wait for the peer.
    session_.since = impl_.clock.now();
    session_.waiting = true;
    co_return co_await put(std::move(text));
  }

  asio::awaitable<Result<void>> start(int status, Headers headers) override {
    if (started_) co_return fail(Errc::invalid_input, "an answer was begun before");
    started_ = true;
    if (!chunks_) keep_alive_ = false;  // HTTP/1.0: the body ends with the connection
    std::string text = head_text(status, headers);
    if (chunks_) text += "transfer-encoding: chunked\r\n";
    if (!keep_alive_) text += "connection: close\r\n";
    text += "\r\n";
    auto written = co_await put(std::move(text));
    if (written) group_.spawn(watch_client());
    co_return written;
  }

  asio::awaitable<Result<void>> write(std::string_view bytes) override {
    if (!started_ || finished_) co_return fail(Errc::invalid_input, "no answer is under way");
    if (bytes.empty() || head_only_) co_return Result<void>();
    if (!chunks_) co_return co_await put(std::string(bytes));
    char size[20];
    const int length = std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
    std::string text;
    text.reserve(bytes.size() + 24);
    text.append(size, static_cast<std::size_t>(length)).append(bytes).append("\r\n");
    co_return co_await put(std::move(text));
  }

  asio::awaitable<Result<std::unique_ptr<ByteStream>>> upgrade(Headers headers) override {
    if (started_) co_return fail(Errc::invalid_input, "an answer was begun before");
    started_ = finished_ = true;
    keep_alive_ = false;
    auto written = co_await put(head_text(101, headers) + "connection: Upgrade\r\n\r\n");
    if (!written) co_return std::unexpected(std::move(written.error()));
    session_.stream->be_patient();
    co_return std::make_unique<PrefixedStream>(session_.reader.take_rest(), std::move(session_.stream));
  }

  void be_patient() override {
    if (session_.stream) session_.stream->be_patient();
  }
  bool started() const override { return started_; }
  bool hold(std::size_t bytes) override {
    const bool held = impl_.occupancy.hold(session_, bytes);
    if (!held) ++impl_.counters.without_room;
    return held;
  }

  asio::awaitable<Result<void>> finish() {
    if (!started_) co_return co_await send(500, {{"content-type", "text/plain"}}, "no answer\n");
    if (finished_) co_return Result<void>();
    finished_ = true;
    if (!chunks_ || head_only_) co_return Result<void>();
    co_return co_await put("0\r\n\r\n");
  }
  void abort() override {
    if (!started_) return;
    keep_alive_ = false;
    finished_ = true;
  }
  bool finished() const { return finished_; }
  bool keep_alive() const { return keep_alive_ && !broken_; }

 private:
  asio::awaitable<Result<void>> put(std::string text) {
    if (!session_.stream) co_return fail(Errc::closed, "the connection was handed over");
    auto written = co_await session_.stream->write(text);
    if (!written) broken_ = true;
    co_return written;
  }
  /// While an answer is streamed nobody else reads, so that a client that goes away is seen here.
  asio::awaitable<void> watch_client() {
    while (session_.reader.buffered() < max_read_ahead) {
      auto count = co_await session_.reader.fill(*session_.stream);
      if (!count || *count == 0) break;
    }
    broken_ = true;
    group_.cancel();
  }

  Impl& impl_;
  Session& session_;
  async::TaskGroup& group_;
  bool head_only_;
  bool chunks_;
  bool keep_alive_;
  bool started_ = false;
  bool finished_ = false;
  bool broken_ = false;
};

asio::awaitable<void> HttpServer::Impl::accept_loop(std::shared_ptr<Door> door) {
  while (!stopping && door->open) {
    tcp::socket socket(executor);
    error_code error;
    co_await door->acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (stopping || !door->open) co_return;
    if (error) {
      // Out of file descriptors, or a connection that was gone again: neither is a reason to stop serving.
      const auto state = co_await asio::this_coro::cancellation_state;
      if (state.cancelled() != asio::cancellation_type::none) co_return;
      if (error == asio::error::no_descriptors && occupancy.close_one()) continue;
      co_await clock.sleep(std::chrono::milliseconds(50));
      continue;
    }
    ++counters.accepted;
    if (!occupancy.make_room()) {
      ++counters.refused;
      continue;
    }
    connections.spawn(session(std::move(socket)));
  }
}

asio::awaitable<void> HttpServer::Impl::session(tcp::socket socket) {
  struct Listed {
    Impl& impl;
    Session session;
    std::list<Guest*>::iterator place;
    explicit Listed(Impl& owner) : impl(owner), place(owner.occupancy.enter(session)) {}
    ~Listed() { impl.occupancy.leave(place); }
  };
  Listed listed(*this);
  Session& session = listed.session;
  session.since = clock.now();
  session.reader.meter([this, &session](std::size_t count) {
    if (session.held == 0) session.since = clock.now();
    session.without_room = !occupancy.hold(session, count);
    return !session.without_room;
  });
  tune(socket);
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) co_return;
  auto ip = endpoint.address();
  if (ip.is_v6() && ip.to_v6().is_v4_mapped()) ip = asio::ip::make_address_v4(asio::ip::v4_mapped, ip.to_v6());
  const Caller caller{.address = ip.to_string(), .port = socket.local_endpoint(error).port()};
  if (error) co_return;

  std::optional<PeerIdentity> peer;
  if (options.tls) {
    auto stream = make_tls_server_stream(std::move(socket), *options.tls);
    TlsServerStream& tls = *stream;
    session.stream = std::move(stream);
    auto secured = co_await async::with_timeout(clock, tls.handshake(), options.header_timeout);
    if (!secured || !*secured) {
      if (!session.evicted) ++counters.handshake_failures;
      co_return;
    }
    if (auto& subject = **secured) {
      if (!occupancy.recognise(session)) {
        if (!session.evicted) ++counters.refused;
        co_return;
      }
      peer = PeerIdentity{.common_name = std::move(subject->common_name),
                          .organizations = std::move(subject->organizations)};
    }
  } else {
    session.stream = make_tcp_stream(std::move(socket));
  }
  co_await serve_requests(session, caller, peer);
}

/// Waits for a request and reads its header; none in time, or a connection that is left, is nothing.
asio::awaitable<std::optional<Result<void>>> HttpServer::Impl::read_head(Session& session, bool first) {
  if (session.idle && !first) {
    auto count = co_await async::with_timeout(clock, session.reader.fill(*session.stream), options.idle_timeout);
    if (count && session.without_room) co_return std::unexpected(std::move(count->error()));
    if (!count || !*count || **count == 0) co_return std::nullopt;
  }
  // What came in one piece is read without setting a timer.
  auto buffered = session.reader.buffered_header();
  if (!buffered) co_return std::unexpected(std::move(buffered.error()));
  if (*buffered) co_return Result<void>();
  co_return co_await async::with_timeout(clock, session.reader.read_header(*session.stream), options.header_timeout);
}

asio::awaitable<std::expected<ServerRequest, HttpServer::Impl::Refusal>> HttpServer::Impl::read_request(
    Session& session, ServerRequest request) const {
  const auto& message = session.reader.parser().get();
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.headers = headers_of(message);
  if (message.version() >= 11 && request.header("expect") == "100-continue" && session.reader.buffered() == 0) {
    auto written = co_await session.stream->write("HTTP/1.1 100 Continue\r\n\r\n");
    if (!written) co_return std::unexpected(Refusal{.status = 0, .why = written.error().text()});
  }
  const auto length = session.reader.parser().content_length();
  // An upgrade's bytes behind the header are not a body.
  while (true) {
    auto chunk = co_await session.reader.read_body(*session.stream);
    if (!chunk)
      co_return std::unexpected(Refusal{.status = session.without_room                      ? 503
                                                  : chunk.error().code() == Errc::too_large ? 413
                                                  : chunk.error().code() == Errc::protocol  ? 400
                                                                                            : 0,
                                        .why = chunk.error().text()});
    if (chunk->empty()) co_return request;
    // A long body gets its memory in one piece, of which only takes room what has come: growing would take it twice.
    if (request.body.size() >= short_body && length && request.body.capacity() < *length) request.body.reserve(*length);
    request.body += *chunk;
    if (request.body.size() > options.max_body)
      co_return std::unexpected(
          Refusal{.status = 413, .why = Failure(Errc::too_large, "the body is larger than allowed").text()});
  }
}

asio::awaitable<std::expected<ServerRequest, HttpServer::Impl::Refusal>> HttpServer::Impl::take_request(
    Session& session, ServerRequest request) const {
  if (options.admits && !options.admits(request.peer))
    co_return std::unexpected(Refusal{.status = 401, .why = "a client certificate is needed that this server knows"});
  if (session.reader.has_body()) co_return co_await read_request(session, std::move(request));
  auto read = co_await async::with_timeout(clock, read_request(session, std::move(request)), options.body_timeout);
  if (!read) co_return std::unexpected(Refusal{.status = 408, .why = "the request's body did not come in time"});
  co_return std::move(*read);
}

asio::awaitable<void> HttpServer::Impl::refuse(Session& session, Refusal refusal) {
  if (session.without_room) ++counters.without_room;
  auto written = co_await async::with_timeout(
      clock,
      session.stream->write(head_text(refusal.status, {{"content-type", "text/plain"}, {"connection", "close"}}) +
                            "content-length: " + std::to_string(refusal.why.size() + 1) + "\r\n\r\n" + refusal.why +
                            "\n"),
      options.header_timeout);
  static_cast<void>(written);
}

asio::awaitable<void> HttpServer::Impl::serve_requests(Session& session, const Caller& caller,
                                                       const std::optional<PeerIdentity>& peer) {
  bool first = true;
  while (!stopping) {
    session.reader.start(options.max_body);
    session.waiting = true;
    session.idle = session.reader.buffered() == 0;
    auto header = co_await read_head(session, first);
    first = false;
    if (!header || stopping) co_return;
    session.idle = false;
    std::expected<ServerRequest, Refusal> request;
    // What comes behind a body, in its trailer, changes nothing.
    const bool keep_alive = *header && session.reader.parser().keep_alive();
    if (*header) {
      request = co_await take_request(session, {.method = {},
                                                .target = {},
                                                .headers = {},
                                                .body = {},
                                                .peer_address = caller.address,
                                                .port = caller.port,
                                                .peer = peer});
    } else {
      const Failure& failure = (*header).error();
      request = std::unexpected(Refusal{.status = session.without_room                ? 503
                                                  : session.reader.body_too_large()   ? 413
                                                  : failure.code() == Errc::too_large ? 431
                                                  : failure.code() == Errc::protocol  ? 400
                                                                                      : 0,
                                        .why = failure.text()});
    }
    if (!request) {
      if (request.error().status != 0 && !session.evicted) co_await refuse(session, std::move(request.error()));
      co_return;
    }
    if (session.evicted) co_return;
    ++counters.requests;
    session.waiting = false;
    const bool again = co_await serve_one(session, std::move(*request), keep_alive);
    if (!again || session.evicted) co_return;
    occupancy.release(session);
    session.served = true;
    session.since = clock.now();
  }
}

asio::awaitable<void> HttpServer::Impl::handle(const ServerRequest& request, Answer& answer, async::TaskGroup& group) {
  struct AtEnd {
    async::TaskGroup& group;
    ~AtEnd() { group.cancel(); }  // whoever watches the client
  };
  const AtEnd at_end{group};
  co_await handler(request, answer);
}

asio::awaitable<bool> HttpServer::Impl::serve_one(Session& session, ServerRequest request, bool keep_alive) {
  async::TaskGroup group(executor);
  const bool chunks = session.reader.parser().get().version() >= 11;
  Answer answer(*this, session, group, request.method == "HEAD", chunks, keep_alive && !stopping);
  group.spawn(handle(request, answer, group));
  std::exception_ptr failure;
  try {
    co_await group.join();
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure && async::is_cancellation(failure)) std::rethrow_exception(failure);
  if (failure) {
    if (options.on_handler_failure)
      options.on_handler_failure(request.method + " " + request.target, async::describe(failure));
    answer.abort();
  }
  if (!session.stream) co_return false;
  if (answer.finished()) co_return answer.keep_alive();
  auto finished = co_await async::with_timeout(clock, answer.finish(), options.header_timeout);
  co_return finished && *finished&& answer.keep_alive();
}

HttpServer::HttpServer(asio::any_io_executor executor, async::Clock& clock, HttpServerOptions options,
                       HttpHandler handler)
    : impl_(std::make_shared<Impl>(std::move(executor), clock, std::move(options), std::move(handler))) {}
HttpServer::~HttpServer() = default;

Result<std::uint16_t> HttpServer::Impl::open_door(std::uint16_t port) {
  const std::string shown = (options.address.empty() ? "*" : options.address) + ":" + std::to_string(port);
  error_code error;
  asio::ip::address address = asio::ip::address_v6::any();
  const bool every = options.address.empty();
  if (!every) address = asio::ip::make_address(options.address, error);
  if (error) return fail(Errc::invalid_input, "listening: '" + options.address + "' is not an IP address");
  const auto door = std::make_shared<Door>(executor);
  const auto open = [&](const asio::ip::address& on, bool both) {
    auto& acceptor = door->acceptor;
    error_code ignored;
    acceptor.close(ignored);
    const tcp::endpoint endpoint(on, port);
    acceptor.open(endpoint.protocol(), error);
    if (error) return false;
    acceptor.set_option(tcp::acceptor::reuse_address(true), ignored);
    if (both) acceptor.set_option(asio::ip::v6_only(false), ignored);
    acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    return !error;
  };
  // A machine without IPv6 still has its IPv4 addresses.
  if (!open(address, every) &&
      !(every && error != asio::error::address_in_use && open(asio::ip::address_v4::any(), false)))
    return fail(Errc::connect, "listening on " + shown + ": " + error.message());
  door->port = door->acceptor.local_endpoint().port();
  doors.push_back(door);
  if (serving) connections.spawn(accept_loop(door));
  return door->port;
}

Result<std::uint16_t> HttpServer::listen() { return impl_->open_door(impl_->options.port); }

Result<std::uint16_t> HttpServer::open(std::uint16_t port) {
  if (impl_->stopping) return fail(Errc::closed, "the server has stopped");
  return impl_->open_door(port);
}

void HttpServer::close(std::uint16_t port) {
  std::erase_if(impl_->doors, [port](const std::shared_ptr<Impl::Door>& door) {
    if (door->port == port) door->close();
    return door->port == port;
  });
}

asio::awaitable<void> HttpServer::serve() {
  const auto impl = impl_;
  struct AtEnd {
    Impl& impl;
    ~AtEnd() {
      impl.serving = false;
      impl.ended.set();
    }
  };
  impl->serving = true;
  const AtEnd at_end{*impl};
  for (const auto& door : impl->doors) impl->connections.spawn(impl->accept_loop(door));
  co_await impl->connections.join();
}

asio::awaitable<void> HttpServer::stop(Duration grace) {
  const auto impl = impl_;
  impl->stopping = true;
  for (const auto& door : impl->doors) door->close();
  for (Guest* guest : impl->occupancy.guests())
    if (auto* session = static_cast<Impl::Session*>(guest); session->idle && session->stream) session->stream->close();
  if (!impl->serving) co_return;
  const bool done = co_await impl->ended.wait_for(impl->clock, grace);
  if (done) co_return;
  impl->connections.cancel();
  co_await impl->ended.wait();
}

void HttpServer::replace_tls(TlsContext context) {
  if (impl_->options.tls) impl_->options.tls = std::move(context);
}

HttpServerCounters HttpServer::counters() const {
  HttpServerCounters counters = impl_->counters;
  counters.connections = impl_->occupancy.guests().size();
  counters.held = impl_->occupancy.held();
  counters.evicted = impl_->occupancy.evictions();
  return counters;
}

}  // namespace kube::net
