#include "controllers/links/session_workers.hpp"

#include "telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

constexpr kube::BackoffPolicy pauses{1s, 5min};
/// The loss of a session that lived so long has nothing to do with earlier losses.
constexpr kube::Duration long_life = 10min;

}  // namespace

asio::awaitable<void> SessionWorkers::watch_over(asio::awaitable<void> worker) {
  try {
    co_await std::move(worker);
  } catch (...) {
    if (kube::async::is_cancellation(std::current_exception())) throw;
    if (!loss_.empty()) co_return;
    loss_ = kube::async::describe(std::current_exception());
    if (lost_) lost_();
  }
}

kube::Duration SessionRestarts::lose(kube::TimePoint now, kube::Random& random) {
  if (now - begun_ >= long_life) losses_ = 0;
  return pauses.pause(++losses_, random);
}

void SessionRestarts::count(kube::Metrics& metrics, const std::string& cluster, const std::string& session) {
  lost_ = metrics.counter(families::sessions_lost, {{"cluster_id", cluster}, {"session", session}});
  lost_.add();
}

}  // namespace liqo::controllers
