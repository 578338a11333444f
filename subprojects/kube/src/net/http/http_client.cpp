#include "kube/net/http/http_client.hpp"

#include <algorithm>
#include <list>
#include <variant>

#include "dial.hpp"
#include "http1_connection.hpp"
#include "http2_connection.hpp"
#include "kube/async/event.hpp"
#include "kube/async/timeout.hpp"
#include "kube/base/random.hpp"
#include "repeat_plan.hpp"

namespace kube::net {

namespace {

constexpr std::size_t max_idle = 8;
/// A connection that has carried nothing for so long is not used again: routers on the way may have forgotten it.
constexpr std::chrono::seconds max_idle_time{60};
/// A connection that was opened for a crowd is given up so long after its last stream.
constexpr std::chrono::seconds spare_time{30};
constexpr std::size_t max_refusal = 64U << 10;
/// How often it is asked whether a request that is under way may still be. Nobody says when the answer changes, but a
/// lease is given up seconds before others may take it.
constexpr std::chrono::milliseconds fence_pause{100};

class Http2Body final : public Body {
 public:
  explicit Http2Body(Http2StreamHandle stream) : stream_(std::move(stream)) {}
  asio::awaitable<Result<std::string>> read() override { return stream_.read(); }

 private:
  Http2StreamHandle stream_;
};

}  // namespace

struct HttpClient::Impl : std::enable_shared_from_this<Impl> {
  /// The making of a connection for which all who need one wait together.
  struct Attempt {
    explicit Attempt(const asio::any_io_executor& executor) : done(executor) {}
    async::Event done;
    std::optional<Failure> failure;
  };
  /// What a request goes out on.
  using Way = std::variant<std::shared_ptr<Http2Connection>, std::unique_ptr<Http1Connection>>;
  /// Why a sending has brought no answer.
  struct Lost {
    Failure failure;
    Loss loss;
  };
  using Sent = std::expected<Response, Lost>;
  /// A connection that waits for a request.
  struct Idle {
    std::unique_ptr<Http1Connection> connection;
    TimePoint since;
  };
  /// The connections of one use. What waits for one is woken whenever there may be room.
  struct Pool {
    Pool(const asio::any_io_executor& on, std::size_t max) : executor(on), max_connections(max) {}
    std::size_t size() const { return connections.size() + http1_connections; }
    /// Connections that are being given up do not count, but there are never more than twice as many in all.
    bool is_full() const {
      const auto given_up =
          std::size_t(std::ranges::count_if(connections, [](const auto& c) { return c->is_draining(); }));
      return size() - given_up >= max_connections || size() >= max_connections * 2;
    }
    void wake() {
      if (room.use_count() > 1) std::exchange(room, std::make_shared<async::Event>(executor))->set();
    }

    asio::any_io_executor executor;
    std::size_t max_connections;
    std::list<std::shared_ptr<Http2Connection>> connections;
    std::vector<Idle> idle;             ///< in the order in which they came
    std::size_t http1_connections = 0;  ///< idle and busy
    std::shared_ptr<Attempt> attempt;
    std::shared_ptr<async::Event> room = std::make_shared<async::Event>(executor);
    std::size_t waiting = 0;  ///< requests that wait for it
  };
  /// Stands in line for room.
  struct Waiting {
    explicit Waiting(Pool& in) : pool(in) { ++pool.waiting; }
    ~Waiting() { --pool.waiting; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    Pool& pool;
  };
  using SharedPool = std::shared_ptr<Pool>;  ///< what has a slot in it may outlive the client
  class FencedSending;

  Impl(asio::any_io_executor on, async::Clock& time, std::shared_ptr<Credentials> identity, HttpClientOptions given)
      : executor(on),
        clock(time),
        credentials(std::move(identity)),
        options(std::move(given)),
        tasks(on, async::TaskGroup::OnFailure::keep_others),
        dialer(on, time, options.resolver ? options.resolver : Resolver::of_the_system()),
        random(options.seed ? *options.seed : std::random_device{}()),
        generation(credentials->generation()),
        requests(std::make_shared<Pool>(on, options.max_request_connections)),
        fenced(std::make_shared<Pool>(on, options.max_request_connections)),
        watches(std::make_shared<Pool>(on, options.max_watch_connections)) {}

  const wire::ServerUrl& server() const { return credentials->config().server; }

  const SharedPool& pool_of(const HttpRequest& request) const {
    if (request.open_ended) return watches;
    return request.may_send ? fenced : requests;
  }
  /// One more HTTP/1.1 connection, for as long as it lives; null if there are enough.
  static std::shared_ptr<void> take_slot(const SharedPool& pool);
  asio::awaitable<Result<Dialed>> dial(bool offer_http2, Deadline deadline);
  /// Dials for a connection of that pool.
  asio::awaitable<Result<Dialed>> dial_for(SharedPool pool, Deadline deadline);
  asio::awaitable<void> connect(SharedPool pool, std::shared_ptr<Attempt> attempt);
  void note_success();
  /// Makes requests fail at once for a while.
  void note_failure(const Failure& failure);
  asio::awaitable<Result<void>> open(SharedPool pool, Deadline deadline);
  asio::awaitable<void> serve(SharedPool pool, std::shared_ptr<Http2Connection> connection);
  /// A connection for one request to a server that spoke HTTP/1.1; null if it speaks HTTP/2 now, or the credentials
  /// have changed: then the caller looks again.
  asio::awaitable<Result<std::unique_ptr<Http1Connection>>> dial_http1(SharedPool pool, Deadline deadline);
  asio::awaitable<Result<Way>> acquire(SharedPool pool, Deadline deadline);
  /// Why there is no connection to be had, once nobody waits for one any more.
  Failure all_in_use(const Pool& pool) const;
  std::shared_ptr<Http2Connection> with_room(Pool& pool) const;
  void renew();
  Http1Connection::Headers own_headers();
  asio::awaitable<bool> has_new_credentials(int status, std::uint64_t issue, bool& asked);
  /// Sends once.
  asio::awaitable<Sent> send_over(Way way, const HttpRequest& request, Deadline deadline);
  asio::awaitable<Sent> send_http1(std::unique_ptr<Http1Connection> connection, const HttpRequest& request,
                                   Deadline deadline);
  asio::awaitable<Sent> send_http2(std::shared_ptr<Http2Connection> connection, const HttpRequest& request,
                                   Deadline deadline);
  void give_back(Pool& pool, std::unique_ptr<Http1Connection> connection) const;
  /// The connection that was used last, if the server still waits on it.
  std::unique_ptr<Http1Connection> take_idle(Pool& pool) const;
  /// Asks whether all fenced requests under way may still be sent, and gives them up if one may not.
  void look_at_fences();
  void look_later();
  void drop_fenced();

  asio::any_io_executor executor;
  async::Clock& clock;
  std::shared_ptr<Credentials> credentials;
  HttpClientOptions options;
  async::TaskGroup tasks;
  Dialer dialer;
  Random random;
  std::uint64_t generation;
  SharedPool requests, fenced, watches;
  std::list<FencedSending*> under_way;  ///< what has a fence and no answer yet
  std::optional<async::Alarm> look;     ///< there while something is under way
  bool http1_server = false;
  bool stopping = false;
  Duration backoff{0};
  TimePoint down_until{};
  std::optional<Failure> down;
  std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>();
  HttpClientCounters counters;
};

/// The sending of a request whose fence may fall (HttpRequest::may_send), until its answer begins. A request without a
/// fence is left alone.
///
/// What is on its way when the fence falls would be carried out whenever the network lets it through, after another
/// process has begun to write. So its connection is reset then, which throws away what has not left this machine.
class HttpClient::Impl::FencedSending {
 public:
  FencedSending(Impl& impl, const HttpRequest& request, Http1Connection& http1) : FencedSending(impl, request) {
    http1_ = &http1;
  }
  FencedSending(Impl& impl, const HttpRequest& request, const std::shared_ptr<Http2Connection>& http2)
      : FencedSending(impl, request) {
    http2_ = http2;
  }
  ~FencedSending() {
    if (!request_.may_send) return;
    impl_.under_way.erase(at_);
    if (impl_.under_way.empty() && impl_.look) impl_.clock.cancel(*std::exchange(impl_.look, std::nullopt));
    // A caller that has stopped waiting has not taken the request back, and its fence is not asked any more. So its
    // connection ends with the other requests that wait on it; one of HTTP/1.1 ends with its request.
    if (const auto connection = http2_.lock(); connection && !settled_) connection->drain();
  }
  FencedSending(const FencedSending&) = delete;
  FencedSending& operator=(const FencedSending&) = delete;

  bool may_go_on() const { return request_.may_send(); }
  /// Nothing of the request is under way any more.
  void settle() { settled_ = true; }
  bool was_dropped() const { return dropped_; }
  void drop() {
    dropped_ = true;
    if (http1_) http1_->close();
  }

 private:
  FencedSending(Impl& impl, const HttpRequest& request) : impl_(impl), request_(request) {
    if (!request_.may_send) return;
    at_ = impl_.under_way.insert(impl_.under_way.end(), this);
    if (!impl_.look) impl_.look_later();
  }

  Impl& impl_;
  const HttpRequest& request_;
  std::list<FencedSending*>::iterator at_;
  Http1Connection* http1_ = nullptr;
  std::weak_ptr<Http2Connection> http2_;
  bool settled_ = false, dropped_ = false;
};

namespace {

Failure given_up() {
  return {Errc::stopped, "this process may no longer write: the request was given up, and may have been carried out"};
}

/// Gives its connection back once it has been read to the end.
class Http1Body final : public Body {
 public:
  Http1Body(std::unique_ptr<Http1Connection> connection,
            std::function<void(std::unique_ptr<Http1Connection>)> give_back)
      : connection_(std::move(connection)), give_back_(std::move(give_back)) {}

  asio::awaitable<Result<std::string>> read() override {
    if (!connection_) co_return std::string();
    auto chunk = co_await connection_->read_body();
    if (chunk && chunk->empty()) give_back_(std::move(connection_));
    co_return chunk;
  }

 private:
  std::unique_ptr<Http1Connection> connection_;
  std::function<void(std::unique_ptr<Http1Connection>)> give_back_;
};

}  // namespace

std::shared_ptr<void> HttpClient::Impl::take_slot(const SharedPool& pool) {
  if (pool->is_full()) return nullptr;
  ++pool->http1_connections;
  return {pool.get(), [pool](void*) {
            --pool->http1_connections;
            pool->wake();
          }};
}

Failure HttpClient::Impl::all_in_use(const Pool& pool) const {
  const bool is_http2 = !pool.connections.empty();
  const std::string count = std::to_string(pool.size());
  return {Errc::connect, (is_http2 ? "every stream of " + count : "all " + count) + " connections to " +
                             server().host_port() + (is_http2 ? " is in use" : " are in use")};
}

asio::awaitable<Result<Dialed>> HttpClient::Impl::dial(bool offer_http2, Deadline deadline) {
  const auto& config = credentials->config();
  std::optional<ClientTls> tls;
  if (config.server.tls)
    tls = ClientTls{.context = credentials->tls(),
                    .server_name = config.tls_server_name.empty() ? config.server.host : config.tls_server_name,
                    .offers_http2 = offer_http2};
  auto dialed = co_await dialer.dial(config.server, std::move(tls), deadline, traffic);
  if (dialed) {
    ++counters.connects;
  } else {
    ++counters.connect_failures;
  }
  co_return dialed;
}

asio::awaitable<Result<Dialed>> HttpClient::Impl::dial_for(SharedPool pool, Deadline deadline) {
  auto dialed = co_await dial(true, deadline);
  if (dialed && pool == fenced) dialed->stream->reset_at_close();
  co_return dialed;
}

asio::awaitable<void> HttpClient::Impl::connect(SharedPool pool, std::shared_ptr<Attempt> mine) {
  struct AtEnd {
    Pool& pool;
    Attempt& attempt;
    ~AtEnd() {
      if (pool.attempt.get() == &attempt) pool.attempt.reset();
      attempt.done.set();
      pool.wake();
    }
  };
  mine->failure = Failure(Errc::stopped, "the client was stopped");
  const AtEnd at_end{*pool, *mine};
  const Deadline deadline = clock.deadline_in(options.dial_timeout);
  auto made = co_await open(pool, deadline);
  if (made) {
    note_success();
    mine->failure.reset();
    co_return;
  }
  note_failure(made.error());
  mine->failure = std::move(made.error());
}

void HttpClient::Impl::note_success() {
  backoff = Duration{0};
  down.reset();
}

void HttpClient::Impl::note_failure(const Failure& failure) {
  // Another pool may have failed a moment ago, at the same server.
  if (!down || clock.now() >= down_until)
    backoff = backoff == Duration{0} ? options.first_backoff : std::min(backoff * 2, options.max_backoff);
  down_until = clock.now() + std::chrono::duration_cast<Duration>(backoff * (0.5 + random.unit() / 2));
  down = failure;
}

asio::awaitable<Result<void>> HttpClient::Impl::open(SharedPool pool, Deadline deadline) {
  const std::uint64_t dialed_with = credentials->generation();
  KUBE_CO_TRY(dialed, co_await dial_for(pool, deadline));
  http1_server = !dialed.http2;
  // Those who wait dial again, with the credentials that came meanwhile.
  if (dialed_with != credentials->generation()) co_return Result<void>();
  if (http1_server) {
    if (auto slot = take_slot(pool))
      give_back(*pool, std::make_unique<Http1Connection>(std::move(dialed.stream), std::move(slot)));
    co_return Result<void>();
  }
  auto connection = std::make_shared<Http2Connection>(executor, clock, std::move(dialed.stream),
                                                      Http2Timing{options.ping_after, options.ping_timeout},
                                                      [pool] { pool->wake(); });
  pool->connections.push_back(connection);
  tasks.spawn(serve(pool, connection));
  // A server that accepts and breaks off again is as good as down; requests must not dial it in circles.
  auto settled = co_await async::with_deadline(clock, connection->ready(), deadline);
  if (settled && *settled) co_return Result<void>();
  if (settled) co_return fail(std::move((*settled).error()), server().host_port());
  connection->close(Failure(Errc::timeout, "no HTTP/2 settings in time"));
  co_return fail(Errc::timeout, server().host_port() + ": no HTTP/2 settings in time");
}

asio::awaitable<void> HttpClient::Impl::serve(SharedPool pool, std::shared_ptr<Http2Connection> connection) {
  struct AtEnd {
    Pool& pool;
    const std::shared_ptr<Http2Connection>& connection;
    ~AtEnd() {
      pool.connections.remove(connection);
      pool.wake();
    }
  };
  const AtEnd at_end{*pool, connection};
  const Failure ended = co_await connection->run();  // its streams have ended by then
  static_cast<void>(ended);
}

std::shared_ptr<Http2Connection> HttpClient::Impl::with_room(Pool& pool) const {
  if (pool.connections.size() > 1) {
    const auto& last = pool.connections.back();
    if (last->streams() == 0 && clock.now() > last->idle_since() + spare_time) last->drain();
  }
  for (const auto& connection : pool.connections)
    if (connection->has_room()) return connection;
  return nullptr;
}

void HttpClient::Impl::renew() {
  const std::uint64_t now = credentials->generation();
  if (now == generation) return;
  generation = now;
  down.reset();
  for (const SharedPool& pool : {requests, fenced, watches}) {
    pool->idle.clear();
    // A connection that ends while it is drained leaves the list by itself, later.
    for (const auto& connection : pool->connections) connection->drain();
  }
}

asio::awaitable<Result<std::unique_ptr<Http1Connection>>> HttpClient::Impl::dial_http1(SharedPool pool,
                                                                                       Deadline deadline) {
  auto slot = take_slot(pool);
  const std::uint64_t dialed_with = credentials->generation();
  auto dialed = co_await dial_for(pool, Deadline{std::min(deadline.at, clock.deadline_in(options.dial_timeout).at)});
  if (stopping) co_return fail(Errc::stopped, "the client was stopped");
  if (!dialed) {
    // A request in a hurry says nothing about the server.
    if (clock.now() < deadline.at) note_failure(dialed.error());
    co_return std::unexpected(std::move(dialed.error()));
  }
  note_success();
  http1_server = !dialed->http2;
  if (dialed->http2 || dialed_with != credentials->generation()) co_return nullptr;
  co_return std::make_unique<Http1Connection>(std::move(dialed->stream), std::move(slot));
}

asio::awaitable<Result<HttpClient::Impl::Way>> HttpClient::Impl::acquire(SharedPool pool, Deadline deadline) {
  bool has_waited = false;
  for (int round = 0; !stopping; ++round) {
    // A server that says goodbye as soon as it is reached is not asked in circles.
    if (round > 3)
      co_await clock.sleep_until(
          std::min(deadline.at, clock.now() + std::chrono::milliseconds(10) * std::min(round, 50)));
    renew();
    // Who came first is served first.
    const bool is_in_turn = has_waited || pool->waiting == 0;
    std::optional<Way> way;
    if (auto http2 = is_in_turn ? with_room(*pool) : nullptr) {
      way = std::move(http2);
    } else if (auto http1 = is_in_turn ? take_idle(*pool) : nullptr) {
      way = std::move(http1);
    }
    if (way) {
      // The next in line is woken, because there may be room for it, too.
      if (pool->waiting > 0) pool->wake();
      co_return std::move(*way);
    }
    if (!is_in_turn || (!pool->attempt && pool->is_full())) {
      // Requests end soon, and what is open-ended does not.
      if (pool == watches) co_return std::unexpected(all_in_use(*pool));
      const Waiting waiting(*pool);
      const auto room = pool->room;
      if (!co_await room->wait_until(clock, deadline)) co_return std::unexpected(all_in_use(*pool));
      has_waited = true;
      --round;
      continue;
    }
    auto waited_for = pool->attempt;
    if (!waited_for) {
      if (down && clock.now() < down_until) co_return std::unexpected(*down);
      if (http1_server && !down) {
        auto connection = co_await dial_http1(pool, deadline);
        if (stopping) break;
        if (!connection) co_return std::unexpected(std::move(connection.error()));
        if (*connection) co_return Way(std::move(*connection));
        continue;
      }
      // An attempt that fails at once has forgotten itself when spawn() returns.
      waited_for = pool->attempt = std::make_shared<Attempt>(executor);
      tasks.spawn(connect(pool, waited_for));
    }
    const bool done = co_await waited_for->done.wait_until(clock, deadline);
    if (!done) co_return fail(Errc::timeout, "connecting to " + server().host_port() + ": no connection in time");
    if (waited_for->failure) co_return std::unexpected(*waited_for->failure);
  }
  co_return fail(Errc::stopped, "the client was stopped");
}

Http1Connection::Headers HttpClient::Impl::own_headers() {
  Http1Connection::Headers headers;
  headers.emplace_back("user-agent", options.user_agent);
  if (const std::string& token = credentials->token(); !token.empty())
    headers.emplace_back("authorization", "Bearer " + token);
  return headers;
}

/// Whether a refused request is worth another try: once, if a plugin makes credentials. A request that was refused in
/// this way was not carried out.
asio::awaitable<bool> HttpClient::Impl::has_new_credentials(int status, std::uint64_t issue, bool& asked) {
  if (status != 401 || std::exchange(asked, true)) co_return false;
  co_return co_await credentials->renew(issue);
}

void HttpClient::Impl::give_back(Pool& pool, std::unique_ptr<Http1Connection> connection) const {
  if (stopping || pool.idle.size() >= max_idle) return;
  pool.idle.push_back({std::move(connection), clock.now()});
  pool.wake();
}

std::unique_ptr<Http1Connection> HttpClient::Impl::take_idle(Pool& pool) const {
  std::erase_if(pool.idle, [now = clock.now()](const Idle& each) { return now - each.since > max_idle_time; });
  while (!pool.idle.empty()) {
    auto connection = std::move(pool.idle.back().connection);
    pool.idle.pop_back();
    // Nobody reads an idle connection, so its end is not known yet; a request would be lost on it.
    if (connection->is_quiet()) return connection;
  }
  return nullptr;
}

void HttpClient::Impl::look_later() {
  look = clock.call_at(executor, clock.now() + fence_pause, [weak = weak_from_this()] {
    if (const auto impl = weak.lock()) impl->look_at_fences();
  });
}

void HttpClient::Impl::look_at_fences() {
  if (!std::ranges::all_of(under_way, &FencedSending::may_go_on)) drop_fenced();
  look_later();
}

void HttpClient::Impl::drop_fenced() {
  for (const auto& connection : fenced->connections) connection->close(given_up());
  for (FencedSending* each : under_way) each->drop();
}

asio::awaitable<HttpClient::Impl::Sent> HttpClient::Impl::send_over(Way way, const HttpRequest& request,
                                                                    Deadline deadline) {
  if (auto* http1 = std::get_if<std::unique_ptr<Http1Connection>>(&way))
    co_return co_await send_http1(std::move(*http1), request, deadline);
  co_return co_await send_http2(std::get<std::shared_ptr<Http2Connection>>(std::move(way)), request, deadline);
}

asio::awaitable<HttpClient::Impl::Sent> HttpClient::Impl::send_http1(std::unique_ptr<Http1Connection> connection,
                                                                     const HttpRequest& request, Deadline deadline) {
  const std::uint64_t made_with = generation;
  FencedSending sending(*this, request, *connection);
  auto head = co_await async::with_deadline(
      clock, connection->exchange(request, server().authority(), server().path, own_headers()), deadline);
  if (!head) co_return std::unexpected(Lost{Failure(Errc::timeout, "no answer in time"), Loss::final});
  if (!*head) {
    if (sending.was_dropped()) co_return std::unexpected(Lost{given_up(), Loss::final});
    const bool is_final = (*head).error().code() != Errc::closed || connection->has_answered();
    const Loss loss = is_final ? Loss::final : connection->has_sent() ? Loss::unknown : Loss::unseen;
    co_return std::unexpected(Lost{std::move((*head).error()), loss});
  }
  auto give = [weak = weak_from_this(), pool = pool_of(request), made_with](std::unique_ptr<Http1Connection> done) {
    const auto impl = weak.lock();
    if (impl && done->is_reusable() && impl->generation == made_with) impl->give_back(*pool, std::move(done));
  };
  Response response{.head = std::move(**head), .body = nullptr};
  response.body = std::make_unique<Http1Body>(std::move(connection), std::move(give));
  co_return response;
}

asio::awaitable<HttpClient::Impl::Sent> HttpClient::Impl::send_http2(std::shared_ptr<Http2Connection> connection,
                                                                     const HttpRequest& request, Deadline deadline) {
  const std::string authority = server().authority();
  auto stream =
      connection->open(request, {server().tls ? "https" : "http", authority, server().path}, own_headers(), deadline);
  FencedSending sending(*this, request, connection);
  connection.reset();
  if (!stream) {
    sending.settle();
    const bool is_unseen = stream.error().code() == Errc::closed;
    co_return std::unexpected(Lost{std::move(stream.error()), is_unseen ? Loss::unseen : Loss::final});
  }
  auto head = co_await stream->head();
  // Without an answer in time it may still be on its way.
  if (head || head.error().code() != Errc::timeout) sending.settle();
  if (!head) {
    const Errc code = head.error().code();
    const bool is_unseen = stream->unprocessed() && code != Errc::timeout && code != Errc::too_large;
    const Loss loss = is_unseen ? Loss::unseen : code == Errc::closed ? Loss::unknown : Loss::final;
    co_return std::unexpected(Lost{std::move(head.error()), loss});
  }
  Response response{.head = std::move(*head), .body = nullptr};
  response.body = std::make_unique<Http2Body>(std::move(*stream));
  co_return response;
}

HttpClient::HttpClient(asio::any_io_executor executor, async::Clock& clock, std::shared_ptr<Credentials> credentials,
                       HttpClientOptions options)
    : impl_(std::make_shared<Impl>(std::move(executor), clock, std::move(credentials), std::move(options))) {}
HttpClient::~HttpClient() = default;

asio::awaitable<Result<Response>> HttpClient::send(HttpRequest request, Deadline deadline) {
  const auto impl = impl_;
  const Impl::SharedPool pool = impl->pool_of(request);
  ++impl->counters.requests;
  Sendings sendings{.count = 1, .is_repeatable = request.repeatable};
  for (bool asked_again = false;; ++sendings.count) {
    if (!impl->credentials->is_ready()) KUBE_CO_TRYV(co_await impl->credentials->ready());
    const std::uint64_t issue = impl->credentials->issue();
    KUBE_CO_TRY(way, co_await impl->acquire(pool, deadline));
    // Connecting may have taken long, and so may have what this repeats.
    if (request.may_send && !request.may_send()) {
      if (auto* http1 = std::get_if<std::unique_ptr<Http1Connection>>(&way)) impl->give_back(*pool, std::move(*http1));
      co_return fail(Errc::stopped, "the request may no longer be sent");
    }
    auto sent = co_await impl->send_over(std::move(way), request, deadline);
    if (sent) {
      if (co_await impl->has_new_credentials(sent->head.status, issue, asked_again)) continue;
      co_return std::move(*sent);
    }
    const auto& [failure, loss] = sent.error();
    const auto pause = plan_repeat(loss, sendings);
    if (!pause || impl->stopping || impl->clock.now() >= deadline.at)
      co_return fail(Failure(failure), impl->server().host_port());
    if (*pause > Duration{0}) co_await impl->clock.sleep_until(std::min(deadline.at, impl->clock.now() + *pause));
    sendings.was_repeated = sendings.was_repeated || loss == Loss::unknown;
    ++impl->counters.repeats;
  }
}

asio::awaitable<Result<Upgraded>> HttpClient::upgrade(HttpRequest request, Deadline deadline) {
  const auto impl = impl_;
  ++impl->counters.requests;
  for (bool asked_again = false;;) {
    if (impl->stopping) co_return fail(Errc::stopped, "the client was stopped");
    KUBE_CO_TRYV(co_await impl->credentials->ready());
    const std::uint64_t issue = impl->credentials->issue();
    const Deadline dial_by{std::min(deadline.at, impl->clock.deadline_in(impl->options.dial_timeout).at)};
    auto dialed = co_await impl->dial(false, dial_by);
    if (impl->stopping) co_return fail(Errc::stopped, "the client was stopped");
    if (!dialed) co_return std::unexpected(std::move(dialed.error()));
    Http1Connection connection(std::move(dialed->stream));
    auto headers = impl->own_headers();
    headers.emplace_back("connection", "Upgrade");
    auto head = co_await async::with_deadline(
        impl->clock, connection.exchange(request, impl->server().authority(), impl->server().path, std::move(headers)),
        deadline);
    if (!head) co_return fail(Errc::timeout, impl->server().host_port() + ": no answer in time");
    if (!*head) co_return fail(std::move((*head).error()), impl->server().host_port());
    Upgraded upgraded{.head = std::move(**head), .stream = nullptr, .refusal = {}};
    if (upgraded.head.status == 101) {
      upgraded.stream = connection.into_stream();
      upgraded.stream->be_patient();
      co_return upgraded;
    }
    if (co_await impl->has_new_credentials(upgraded.head.status, issue, asked_again)) continue;
    while (upgraded.refusal.size() < max_refusal) {
      auto chunk = co_await async::with_deadline(impl->clock, connection.read_body(), deadline);
      if (!chunk || !*chunk || (*chunk)->empty()) break;
      upgraded.refusal += **chunk;
    }
    upgraded.refusal.resize(std::min(upgraded.refusal.size(), max_refusal));
    co_return upgraded;
  }
}

asio::awaitable<void> HttpClient::stop() {
  const auto impl = impl_;
  impl->stopping = true;
  for (const Impl::SharedPool& pool : {impl->requests, impl->fenced, impl->watches}) {
    pool->idle.clear();
    pool->wake();
  }
  co_await impl->tasks.stop();
}

HttpClientCounters HttpClient::counters() const {
  HttpClientCounters counters = impl_->counters;
  counters.bytes_in = impl_->traffic->bytes_in;
  counters.bytes_out = impl_->traffic->bytes_out;
  const auto use_of = [](const Impl::Pool& pool) {
    HttpClientCounters::Use use{.connections = pool.size(), .streams = pool.http1_connections - pool.idle.size()};
    for (const auto& connection : pool.connections) use.streams += connection->streams();
    return use;
  };
  counters.by_requests = use_of(*impl_->requests);
  const auto with_fence = use_of(*impl_->fenced);
  counters.by_requests.connections += with_fence.connections;
  counters.by_requests.streams += with_fence.streams;
  counters.by_watches = use_of(*impl_->watches);
  return counters;
}

}  // namespace kube::net
