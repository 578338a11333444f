#include "kube/testing/virtual_clock.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace kube::testing {

namespace {

/// Takes the alarm back when the sleeper ends first, by cancellation or because its frame is destroyed.
struct AlarmScope {
  VirtualClock& clock;
  VirtualClock::Alarm alarm;
  ~AlarmScope() { clock.cancel(alarm); }
};

}  // namespace

WallTime VirtualClock::wall() const {
  return start_ + std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch() - std::chrono::hours(1));
}

asio::awaitable<bool> VirtualClock::wait_until(TimePoint at) {
  if (at <= now_) co_return true;
  asio::steady_timer waiter(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
  bool due = false;
  AlarmScope scope{*this, call_at(at, [&due, &waiter] {
                     due = true;
                     waiter.cancel();
                   })};
  boost::system::error_code woken;
  co_await waiter.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  // The alarm and a cancellation both end the wait with operation_aborted.
  co_return due;
}

VirtualClock::Alarm VirtualClock::call_at(TimePoint at, std::function<void()> action) {
  Alarm alarm{at, ++sequence_};
  alarms_.emplace(alarm, std::move(action));
  return alarm;
}

std::optional<TimePoint> VirtualClock::next() const {
  if (alarms_.empty() || alarms_.begin()->first.first == TimePoint::max()) return std::nullopt;
  return std::max(now_, alarms_.begin()->first.first);
}

bool VirtualClock::advance_to_next() {
  const auto at = next();
  if (!at) return false;
  now_ = *at;
  auto due = alarms_.extract(alarms_.begin());
  due.mapped()();
  return true;
}

void VirtualClock::advance_to(TimePoint at) {
  while (true) {
    const auto due = next();
    if (!due || *due > at) break;
    advance_to_next();
  }
  now_ = std::max(now_, at);
}

}  // namespace kube::testing
