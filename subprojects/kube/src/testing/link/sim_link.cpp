#include "kube/testing/link/sim_link.hpp"

#include <algorithm>
#include <cmath>

#include "sim_bodies.hpp"

namespace kube::testing {

namespace {
constexpr Duration connect_timeout = std::chrono::seconds(10);
constexpr Duration reset_time = std::chrono::seconds(2);

/// What a list or watch asks for, whatever it knows already.
std::string scope_of(const std::string& target) {
  const std::size_t mark = target.find('?');
  std::string scope = target.substr(0, mark);
  for (const std::string_view selector : {"labelSelector=", "fieldSelector="}) {
    const std::size_t at = target.find(selector, std::min(mark, target.size()));
    if (at != std::string::npos) scope += " " + target.substr(at, target.find('&', at) - at);
  }
  return scope;
}
}  // namespace

/// One request on its way, and its answer on the way back.
struct SimLink::Exchange {
  Exchange(const asio::any_io_executor& executor, HttpRequest sent) : request(std::move(sent)), ended(executor) {}
  std::uint64_t id = 0;
  HttpRequest request;
  bool repeated = false;  ///< is on its way for the second time
  FakeAnswer answer;
  std::optional<Failure> failure;
  async::Event ended;
  async::Alarm alarm;
  void (SimLink::*held_step)(std::uint64_t) = nullptr;  ///< what goes on when the link heals
  bool abandoned = false;                               ///< the client does not wait any more
  TimePoint abandoned_at{};
  std::shared_ptr<const bool> killed;  ///< whether the process that sent it has ended since; may be null
  bool refused = false;  ///< drawn at the start, so that the draws do not depend on what happens on the way
  bool answer_lost = false;
  bool is_read() const { return request.method == "GET"; }
};

SimLink::SimLink(Simulator& simulator, FakeApiServer& server, std::string actor)
    : simulator_(simulator),
      clock_(simulator.clock()),
      server_(server),
      actor_(std::move(actor)),
      random_(simulator.random().next()) {}

SimLink::~SimLink() {
  for (auto& [id, exchange] : in_flight_) clock_.cancel(exchange->alarm);
}

bool SimLink::strikes(double probability) { return probability > 0 && random_.chance(probability); }

Duration SimLink::latency() { return random_.between(faults_.latency_low, faults_.latency_high); }

void SimLink::partition() {
  state_ = State::partitioned;
  down_since_ = clock_.now();
  for (SimWatchBody* watch : watches_) watch->link_changed();
}

void SimLink::refuse() {
  state_ = State::refusing;
  down_since_ = clock_.now();
  cut_watches();
}

void SimLink::heal() {
  state_ = State::up;
  for (SimWatchBody* watch : watches_) watch->link_changed();
  for (auto& [id, exchange] : in_flight_) {
    if (!exchange->held_step) continue;
    const auto step = std::exchange(exchange->held_step, nullptr);
    clock_.cancel(exchange->alarm);
    exchange->alarm = clock_.call_in(latency(), [this, step, number = id] { (this->*step)(number); });
  }
}

void SimLink::cut_watches() {
  for (SimWatchBody* watch : watches_) watch->cut();
}

std::shared_ptr<SimLink::Exchange> SimLink::dispatch(HttpRequest request) {
  auto exchange = std::make_shared<Exchange>(simulator_.executor(), std::move(request));
  exchange->id = ++requests_;
  if (sent_) sent_(exchange->request);
  if (exchange->request.verb == "list" || exchange->request.verb == "watch")
    ++reads_[scope_of(exchange->request.target)];
  Duration there = latency();
  if (strikes(faults_.slow)) there += random_.between(Duration::zero(), faults_.slow_by);
  exchange->refused = strikes(faults_.refused);
  exchange->answer_lost = strikes(faults_.lost_answer);
  in_flight_.emplace(exchange->id, exchange);
  const std::uint64_t id = exchange->id;
  if (state_ == State::partitioned) {
    // Nobody answers the handshake.
    exchange->held_step = &SimLink::arrive;
    exchange->alarm =
        clock_.call_in(connect_timeout, [this, id] { fail(id, Errc::connect, "the connection timed out"); });
  } else {
    exchange->alarm = clock_.call_in(there, [this, id] { arrive(id); });
  }
  return exchange;
}

void SimLink::hold(std::uint64_t id, void (SimLink::*step)(std::uint64_t)) {
  Exchange& exchange = *in_flight_.at(id);
  exchange.held_step = step;
  exchange.alarm = clock_.call_in(keep_alive, [this, id] { fail(id, Errc::closed, "the connection was given up"); });
}

void SimLink::fail(std::uint64_t id, Errc code, std::string text) {
  const auto found = in_flight_.find(id);
  found->second->failure.emplace(code, std::move(text));
  found->second->ended.set();
  in_flight_.erase(found);
}

FakeAnswer SimLink::carry_out(Exchange& exchange) {
  const HttpRequest& request = exchange.request;
  const auto instead = [this](const Refusal& refusal) {
    FakeAnswer answer;
    answer.status = refusal.code;
    answer.body = json::serialize(refusal.document());
    answer.headers.emplace_back("content-type", "application/json");
    if (refusal.code == 429) answer.headers.emplace_back("retry-after", std::to_string(faults_.retry_after.count()));
    return answer;
  };
  if (strikes(faults_.throttled))
    return instead(refuse::too_many_requests(static_cast<int>(faults_.retry_after.count())));
  if (strikes(faults_.unavailable)) return instead(refuse::unavailable());
  if ((request.method == "PUT" || request.method == "PATCH") && strikes(faults_.conflict))
    return instead(refuse::stale("", request.resource, "simulated").error());
  if (strikes(faults_.failing)) {
    // The server may have lost its database before or after the write.
    if (random_.chance(0.5)) server_.handle(request, actor_);
    return instead(refuse::internal_error("the simulated database timed out"));
  }
  if (exchange.is_read() && strikes(faults_.compacted)) server_.store().compact(server_.store().version());
  return server_.handle(request, actor_);
}

void SimLink::arrive(std::uint64_t id) {
  Exchange& exchange = *in_flight_.at(id);
  // The kernel of a killed process closes its connections, and the server drops what it has not begun by then.
  if (exchange.abandoned && exchange.killed && *exchange.killed && clock_.now() - exchange.abandoned_at > reset_time)
    return fail(id, Errc::closed, "the connection was reset");
  // A write that a client stopped waiting for has often left its machine already.
  if (exchange.abandoned && (exchange.is_read() || random_.chance(0.5))) return fail(id, Errc::closed, "abandoned");
  // A request that nobody waits for is not repeated: its sender may be gone, and the sender's fence with it.
  if (exchange.repeated && exchange.abandoned) return fail(id, Errc::closed, "abandoned");
  if (exchange.repeated && exchange.request.may_send && !exchange.request.may_send())
    return fail(id, Errc::stopped, "the request may no longer be sent");
  if (exchange.repeated && sent_) sent_(exchange.request);
  if (state_ == State::partitioned) return hold(id, &SimLink::arrive);
  if (state_ == State::refusing) return fail(id, Errc::connect, "the connection was refused");
  if (exchange.refused) return fail(id, Errc::connect, "the connection broke before the request was sent");
  exchange.answer = carry_out(exchange);
  if (exchange.answer_lost) {
    if (!exchange.request.repeatable) {
      exchange.alarm = clock_.call_in(latency(), [this, id] { fail(id, Errc::closed, "the connection broke"); });
      return;
    }
    // As net::Transport promises: once more, over a new connection.
    exchange.repeated = true;
    exchange.answer_lost = false;
    exchange.answer = {};
    exchange.alarm = clock_.call_in(latency() + latency() + faults_.repeat_after, [this, id] { arrive(id); });
    return;
  }
  exchange.alarm = clock_.call_in(latency(), [this, id] { come_back(id); });
}

void SimLink::come_back(std::uint64_t id) {
  Exchange& exchange = *in_flight_.at(id);
  if (state_ == State::partitioned) return hold(id, &SimLink::come_back);
  if (state_ == State::refusing) return fail(id, Errc::closed, "the connection was closed");
  exchange.ended.set();
  in_flight_.erase(id);
}

std::unique_ptr<net::Body> SimLink::make_body(FakeAnswer answer) {
  if (answer.watch) {
    TimePoint breaks_at = TimePoint::max();
    if (faults_.watch_life > Duration::zero()) {
      const double life = -std::log(1.0 - random_.unit()) * static_cast<double>(faults_.watch_life.count());
      breaks_at = clock_.now() + Duration(static_cast<std::int64_t>(life));
    }
    return std::make_unique<SimWatchBody>(*this, std::move(answer.watch), breaks_at);
  }
  const bool breaks = strikes(faults_.cut_body);
  std::deque<std::string> pieces;
  std::string& body = answer.body;
  if (body.size() > 1 && (breaks || random_.chance(0.2))) {
    const auto at = static_cast<std::size_t>(random_.between(1, static_cast<std::int64_t>(body.size()) - 1));
    if (!breaks) pieces.push_back(body.substr(at));
    body.resize(at);
  }
  if (!body.empty()) pieces.push_front(std::move(body));
  return std::make_unique<SimBody>(std::move(pieces), breaks);
}

asio::awaitable<Result<net::Response>> SimTransport::send(HttpRequest request, Deadline deadline) {
  if (killed_ && *killed_) co_return kube::fail(Errc::closed, "this process has been killed");
  if (link_.clock_.now() >= deadline.at) co_return kube::fail(Errc::timeout, "no answer in time");
  auto exchange = link_.dispatch(std::move(request));
  exchange->killed = killed_;
  struct Abandon {
    SimLink::Exchange& exchange;
    VirtualClock& clock;
    ~Abandon() {
      exchange.abandoned = true;
      exchange.abandoned_at = clock.now();
    }
  } abandon{*exchange, link_.clock_};
  const bool answered = co_await exchange->ended.wait_until(link_.clock_, deadline);
  if (!answered) co_return kube::fail(Errc::timeout, "no answer in time");
  if (exchange->failure) co_return std::unexpected(std::move(*exchange->failure));
  net::Response response;
  response.head.status = exchange->answer.status;
  response.head.headers = std::move(exchange->answer.headers);
  response.body = link_.make_body(std::move(exchange->answer));
  co_return response;
}

}  // namespace kube::testing
