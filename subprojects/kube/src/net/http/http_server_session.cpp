// One connection of a server: its requests, read one after another, and their answers.
#include "http1_head.hpp"
#include "http_server_impl.hpp"
#include "kube/async/timeout.hpp"
#include "kube/net/http/plain_text.hpp"
#include "net/prefixed_stream.hpp"

namespace kube::net {

namespace {

/// A peer that sends ahead while its answer is streamed is read this far, and given up beyond: nobody would see it go.
constexpr std::size_t max_read_ahead = 64U << 10;
/// A body up to this length grows as it comes.
constexpr std::size_t short_body = 64U << 10;

}  // namespace

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
    Http1Head head = Http1Head::answer(status);
    head.add(headers);
    if (status != 204 && status != 304) head.add("content-length", std::to_string(body.size()));
    if (!keep_alive_) head.add("connection", "close");
    KUBE_CO_TRY(text, head.finish());
    started_ = finished_ = true;
    if (!head_only_) text += body;
    // Nothing is left to do but to wait for the peer.
    session_.since = impl_.clock.now();
    session_.waiting = true;
    co_return co_await put(std::move(text));
  }

  asio::awaitable<Result<void>> start(int status, Headers headers) override {
    if (started_) co_return fail(Errc::invalid_input, "an answer was begun before");
    if (!chunks_) keep_alive_ = false;  // HTTP/1.0: the body ends with the connection
    Http1Head head = Http1Head::answer(status);
    head.add(headers);
    if (chunks_) head.add("transfer-encoding", "chunked");
    if (!keep_alive_) head.add("connection", "close");
    KUBE_CO_TRY(text, head.finish());
    started_ = true;
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
    KUBE_CO_TRY(text, Http1Head::answer(101).add(headers).add("connection", "Upgrade").finish());
    started_ = finished_ = true;
    keep_alive_ = false;
    KUBE_CO_TRYV(co_await put(std::move(text)));
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
    if (!started_) co_return co_await send(500, {{"content-type", plain_text_type}}, "no answer\n");
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

/// Waits for a request and reads its header; nothing if none comes in time, or if the peer has closed.
asio::awaitable<std::optional<Result<void>>> HttpServer::Impl::read_head(Session& session, bool first) {
  if (session.idle && !first) {
    auto count = co_await async::with_timeout(clock, session.reader.fill(*session.stream), options.idle_timeout);
    if (count && session.without_room) co_return std::unexpected(std::move(count->error()));
    if (!count || !*count || **count == 0) co_return std::nullopt;
  }
  // What came in one piece is read without setting a timer.
  KUBE_CO_TRY(buffered, session.reader.buffered_header());
  if (buffered) co_return Result<void>();
  auto read = co_await async::with_timeout(clock, session.reader.read_header(*session.stream), options.header_timeout);
  if (!read || (*read && !**read)) co_return std::nullopt;
  if (!*read) co_return std::unexpected(std::move(read->error()));
  co_return Result<void>();
}

asio::awaitable<std::expected<ServerRequest, HttpServer::Impl::Refusal>> HttpServer::Impl::read_request(
    Session& session, ServerRequest request) const {
  const auto& message = session.reader.parser().get();
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.headers = headers_of(message);
  if (message.version() >= 11 && request.header("expect") == "100-continue" && session.reader.buffered() == 0) {
    auto written = co_await session.stream->write(Http1Head::answer(100).finish().value());
    if (!written) co_return std::unexpected(Refusal{.status = 0, .why = written.error().text()});
  }
  const auto length = session.reader.parser().content_length();
  // An upgrade's bytes after the header are not a body.
  while (true) {
    auto chunk = co_await session.reader.read_body(*session.stream);
    if (!chunk)
      co_return std::unexpected(Refusal{.status = session.without_room                      ? 503
                                                  : chunk.error().code() == Errc::too_large ? 413
                                                  : chunk.error().code() == Errc::protocol  ? 400
                                                                                            : 0,
                                        .why = chunk.error().text()});
    if (chunk->empty()) co_return request;
    // The string of a long body is reserved whole, because growing it would copy it. Pages that nothing has been
    // written to take no memory.
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
  refusal.why += "\n";
  auto head = Http1Head::answer(refusal.status)
                  .add("content-type", plain_text_type)
                  .add("connection", "close")
                  .add("content-length", std::to_string(refusal.why.size()))
                  .finish();
  auto written =
      co_await async::with_timeout(clock, session.stream->write(head.value() + refusal.why), options.header_timeout);
  static_cast<void>(written);
}

asio::awaitable<void> HttpServer::Impl::serve_requests(Session& session, const Caller& caller,
                                                       const std::optional<PeerIdentity>& peer) {
  bool first = true;
  const auto is_over = [&] { return stopping || (peer && session.forgotten); };
  while (!is_over()) {
    session.reader.start(options.max_body);
    session.waiting = true;
    session.idle = session.reader.buffered() == 0;
    auto header = co_await read_head(session, first);
    first = false;
    if (!header || is_over()) co_return;
    session.idle = false;
    std::expected<ServerRequest, Refusal> request;
    // What comes after a body, in its trailer, changes nothing.
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
    if (session.evicted || (peer && session.forgotten)) co_return;
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
    Answer& answer;
    async::TaskGroup& group;
    bool has_returned = false;
    ~AtEnd() {
      // A client that has closed only its sending side would take the last chunk for the end of the whole body.
      if (!has_returned) answer.abort();
      group.cancel();  // the task that watches the client
    }
  };
  AtEnd at_end{answer, group};
  co_await handler(request, answer);
  at_end.has_returned = true;
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
  if (failure && options.on_handler_failure)
    options.on_handler_failure(request.method + " " + request.target, async::describe(failure));
  if (!session.stream) co_return false;
  if (answer.finished()) co_return answer.keep_alive();
  auto finished = co_await async::with_timeout(clock, answer.finish(), options.header_timeout);
  co_return finished.has_value() && *finished&& answer.keep_alive();
}

}  // namespace kube::net
