#include "liqo/controllers/session_workers.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

constexpr kube::BackoffPolicy pauses{1s, 5min};
/// A session that lived so long is lost for a reason of its own.
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

void count_lost_session(const Context& context, const std::string& cluster, const std::string& session) {
  context.metrics
      .counter("liqo_sessions_lost_total",
               "Sessions with a provider that lost a worker by an exception and were started anew.",
               {{"cluster", cluster}, {"session", session}})
      .add();
}

}  // namespace liqo::controllers
