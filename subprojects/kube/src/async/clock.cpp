#include "kube/async/clock.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace kube::async {

asio::awaitable<bool> Clock::wait_until(TimePoint at) {
  if (at <= now()) co_return true;
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  struct Sleeper {
    asio::steady_timer timer;
    bool due = false;
  } sleeper{asio::steady_timer(executor, asio::steady_timer::time_point::max())};
  const AlarmScope alarm(*this, executor, at, [&sleeper] {
    sleeper.due = true;
    sleeper.timer.cancel();
  });
  // The alarm and a cancellation both end the wait with operation_aborted.
  boost::system::error_code woken;
  co_await sleeper.timer.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  co_return sleeper.due;
}

Deadline Clock::deadline_in(Duration duration) const {
  const TimePoint from = now();
  return duration >= TimePoint::max() - from ? Deadline::never() : Deadline{from + duration};
}

asio::awaitable<void> Clock::sleep_until(TimePoint at) {
  if (!co_await wait_until(at)) throw boost::system::system_error(asio::error::operation_aborted);
}

TimePoint RealClock::now() const { return std::chrono::steady_clock::now(); }

WallTime RealClock::wall() const {
  return std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
}

Alarm RealClock::call_at(const asio::any_io_executor& executor, TimePoint at, std::function<void()> action) {
  const Alarm alarm = alarms_.add(at, std::move(action));
  if (at < armed_) arm(executor);
  return alarm;
}

void RealClock::cancel(const Alarm& alarm) {
  alarms_.remove(alarm);
  // A timer that was armed for this alarm may ring for nothing, which costs less than setting it again each time.
  if (!alarms_.empty()) return;
  timer_.reset();
  armed_ = TimePoint::max();
}

void RealClock::arm(const asio::any_io_executor& executor) {
  if (!timer_) timer_ = std::make_shared<asio::steady_timer>(executor);
  armed_ = alarms_.next();
  timer_->expires_at(std::chrono::time_point_cast<asio::steady_timer::duration>(armed_));
  // A handler that is queued already is not taken back by the end of its timer.
  timer_->async_wait([this, weak = std::weak_ptr(timer_)](const boost::system::error_code& ended) {
    if (!ended && weak.lock()) ring();
  });
}

void RealClock::ring() {
  const asio::any_io_executor executor = timer_->get_executor();
  // What an action adds is not due before the next turn, so that actions which add each other let the loop go on.
  const std::uint64_t newest = alarms_.newest();
  const TimePoint time = now();
  while (const auto action = alarms_.take(time, newest)) action();
  if (alarms_.empty()) {
    timer_.reset();
    armed_ = TimePoint::max();
  } else {
    arm(executor);
  }
}

}  // namespace kube::async
