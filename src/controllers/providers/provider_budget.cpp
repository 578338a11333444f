#include "controllers/providers/provider_budget.hpp"

#include <algorithm>

namespace liqo::controllers {

WriteBudget::WriteBudget(kube::async::Clock& clock, double per_second, double burst, kube::Counter delayed)
    : clock_(clock),
      interval_(std::int64_t(1e9 / per_second)),
      slack_(std::int64_t(burst * 1e9 / per_second)),
      next_(clock.now()),
      delayed_(delayed) {}

kube::Duration WriteBudget::reserve() {
  const kube::TimePoint now = clock_.now();
  next_ = std::max(next_, now) + interval_;
  return std::max(next_ - now - slack_, kube::Duration::zero());
}

bool WriteBudget::try_take() {
  const kube::TimePoint now = clock_.now(), next = std::max(next_, now) + interval_;
  if (next - now > slack_) return false;
  next_ = next;
  return true;
}

asio::awaitable<void> WriteBudget::take() {
  const kube::Duration wait = reserve();
  if (wait == kube::Duration::zero()) co_return;
  delayed_.add();
  co_await clock_.sleep(wait);
}

}  // namespace liqo::controllers
