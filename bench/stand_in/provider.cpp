#include "provider.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "crowd.hpp"
#include "lies.hpp"

namespace liqo::bench {

namespace {

using namespace std::chrono_literals;

/// How often watches are checked for changes by time alone. A check of a thousand takes a millisecond.
constexpr kube::Duration upkeep_interval = 2s;
constexpr kube::Duration flood_interval = 50ms;
constexpr std::size_t floods_per_second = std::size_t(1s / flood_interval);
/// A client with this many bytes still to take gets no more.
constexpr std::size_t max_waiting = 64U << 10;

/// One event of a pod that is not the client's. It has a kilobyte, as a real one.
std::string flood_event(const std::string& ns, std::size_t number, std::uint64_t version) {
  kube::json::object metadata{{"name", "flood-" + std::to_string(number % 100)},
                              {"namespace", ns},
                              {"uid", "flood-" + ns + "-" + std::to_string(number % 100)},
                              {"resourceVersion", std::to_string(version)},
                              {"creationTimestamp", "2026-01-01T00:00:00Z"},
                              {"annotations", {{"example.com/x", std::string(700, 'x')}}}};
  kube::json::object pod{{"kind", "Pod"},
                         {"apiVersion", "v1"},
                         {"metadata", std::move(metadata)},
                         {"spec", {{"containers", {{{"name", "main"}, {"image", "busybox"}}}}}},
                         {"status", {{"phase", "Running"}, {"message", std::to_string(number)}}}};
  return kube::json::serialize(kube::json::object{{"type", "MODIFIED"}, {"object", std::move(pod)}}) + "\n";
}

bool is_about_life(std::string_view target) { return target.starts_with("/livez") || target.starts_with("/version"); }

}  // namespace

Provider::Provider(asio::any_io_executor executor, std::span<const kube::Resource> kinds, Manner manner,
                   std::size_t flood, std::string dense)
    : executor_(std::move(executor)),
      manner_(manner),
      flood_(flood),
      dense_(std::move(dense)),
      began_(std::chrono::steady_clock::now()),
      clock_(std::chrono::time_point_cast<kube::WallTime::duration>(std::chrono::system_clock::now())),
      server_(clock_) {
  for (const kube::Resource& kind : kinds) server_.serve(kind);
}

void Provider::advance() {
  const kube::TimePoint began_at{1h};  // of the virtual clock
  clock_.advance_to(began_at + (std::chrono::steady_clock::now() - began_));
}

void Provider::be_silent(bool silent) {
  is_silent_ = silent;
  if (silent) return;
  for (auto& [request, answer] : std::exchange(kept_, {})) handle(std::move(request), std::move(answer));
  notify_soon();
}

kube::testing::FakeAnswer Provider::operate(const kube::HttpRequest& request, std::string_view actor) {
  advance();
  return server_.handle(request, actor);
}

void Provider::handle(kube::HttpRequest request, std::shared_ptr<Answer> answer) {
  if (is_silent_) {
    kept_.emplace_back(std::move(request), std::move(answer));
    return;
  }
  if (delay_ <= kube::Duration::zero()) return answer_now(std::move(request), std::move(answer));
  auto timer = std::make_shared<asio::steady_timer>(executor_, delay_);
  timer->async_wait([this, timer, request = std::move(request),
                     answer = std::move(answer)](const boost::system::error_code&) mutable {
    answer_now(std::move(request), std::move(answer));
  });
}

void Provider::answer_now(kube::HttpRequest request, std::shared_ptr<Answer> answer) {
  if (manner_ == Manner::stuck) return;
  if (manner_ == Manner::lying && !is_about_life(request.target)) {
    const Lie lie = lie_about(request, lies_++);
    answer->begin(lie.status, {{"content-type", "application/json"}});
    answer->more(lie.body);
    answer->end();
    return;
  }
  if (manner_ == Manner::crowded && (crowded_.empty() || crowded_ == namespace_of_pods(request.target)))
    if (const auto page = page_of_crowd(request)) {
      crowded_ = namespace_of_pods(request.target);
      answer->begin(200, {{"content-type", "application/json"}});
      answer->more(*page);
      answer->end();
      return;
    }
  if (manner_ == Manner::dense && request.target.contains("sendInitialEvents=")) {
    answer->begin(400, {{"content-type", "application/json"}});
    answer->more(R"({"kind":"Status","status":"Failure","reason":"BadRequest","code":400})");
    answer->end();
    return;
  }
  if (manner_ == Manner::dense && request.method == "GET" && request.target.contains("limit=")) {
    answer->begin(200, {{"content-type", "application/json"}, {"content-encoding", "gzip"}});
    answer->more(dense_);
    answer->end();
    return;
  }
  advance();
  kube::testing::FakeAnswer made = server_.handle(request, "liqod");
  answer->begin(made.status, made.headers);
  if (!made.watch) {
    answer->more(made.body);
    answer->end();
    return;
  }
  made.watch->on_wake([this] { notify_soon(); });
  watches_.push_back(
      {.ns = namespace_of_pods(request.target), .watch = std::move(made.watch), .answer = std::move(answer)});
  notify_soon();
}

void Provider::notify_soon() {
  if (std::exchange(is_telling_, true)) return;
  asio::post(executor_, [this] {
    is_telling_ = false;
    notify_all();
  });
}

void Provider::notify_all() {
  if (is_silent_) return;
  for (auto open = watches_.begin(); open != watches_.end();) {
    while (auto line = open->watch->next()) open->answer->more(*line);
    if (open->watch->ended()) open->answer->end();
    open = open->watch->ended() || !open->answer->is_wanted() ? watches_.erase(open) : std::next(open);
  }
}

void Provider::flood() {
  if (watches_.empty()) return;
  std::size_t left = flood_ / floods_per_second;
  // Rounds go on until the flood is sent or no watch takes more.
  for (bool has_told = true; has_told && left > 0;) {
    has_told = false;
    for (OpenWatch& open : watches_) {
      if (left == 0 || open.ns.empty() || open.answer->waiting() > max_waiting) continue;
      ++flooded_;
      open.answer->more(flood_event(open.ns, flooded_, server_.store().version() + flooded_));
      has_told = true;
      --left;
    }
  }
  // Watches that had their turn come last the next time.
  const std::size_t share = std::min(watches_.size(), flood_ / floods_per_second);
  watches_.splice(watches_.end(), watches_, watches_.begin(), std::next(watches_.begin(), std::ptrdiff_t(share)));
}

asio::awaitable<void> Provider::keep_time() {
  kube::async::RealClock clock;
  while (true) {
    co_await clock.sleep(manner_ == Manner::flooding ? flood_interval : upkeep_interval);
    advance();
    notify_all();
    if (manner_ == Manner::flooding) flood();
  }
}

}  // namespace liqo::bench
