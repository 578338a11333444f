// Time as an injected dependency: the process runs on RealClock, simulations on a virtual one.
// Tested by test/async/async_test.cpp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>

#include "kube/async/alarms.hpp"
#include "kube/base/time.hpp"

namespace kube::async {

namespace asio = boost::asio;

/// Where every timer, deadline and timestamp comes from. One thread, that of the loop. Must outlive every
/// coroutine that waits for it.
class Clock {
 public:
  virtual ~Clock() = default;
  /// The monotonic time.
  virtual TimePoint now() const = 0;
  /// Civil time, for timestamps in objects and validity of certificates.
  virtual WallTime wall() const = 0;

  /// Calls `action`, which must not throw, on the loop of `executor` when time reaches `at`, but never within this
  /// call. All alarms at one time have to be for executors of the same loop.
  virtual Alarm call_at(const asio::any_io_executor& executor, TimePoint at, std::function<void()> action) = 0;
  /// Forgets an alarm; harmless if it has gone off.
  virtual void cancel(const Alarm& alarm) = 0;

  /// Waits until `at` and returns true, at once if `at` has passed. Returns false if it was cancelled (terminal), which
  /// costs no exception; the caller must not await anything after that.
  asio::awaitable<bool> wait_until(TimePoint at);
  /// Waits until `at`; returns at once if that has passed. Cancellation (terminal) throws operation_aborted.
  asio::awaitable<void> sleep_until(TimePoint at);

  /// Waits for that long. Cancellation (terminal) throws operation_aborted.
  asio::awaitable<void> sleep(Duration duration) { return sleep_until(deadline_in(duration).at); }
  /// The deadline that is so long from now; one that is too late for a TimePoint, as with Duration::max(), never comes.
  Deadline deadline_in(Duration duration) const;
};

/// An alarm for the life of a scope.
class AlarmScope {
 public:
  AlarmScope(Clock& clock, const asio::any_io_executor& executor, TimePoint at, std::function<void()> action)
      : clock_(clock), alarm_(clock.call_at(executor, at, std::move(action))) {}
  ~AlarmScope() { clock_.cancel(alarm_); }
  AlarmScope(const AlarmScope&) = delete;
  AlarmScope& operator=(const AlarmScope&) = delete;

 private:
  Clock& clock_;
  Alarm alarm_;
};

/// The clocks of the operating system. One timer serves all alarms: most are deadlines that never come, and cost it
/// nothing.
class RealClock final : public Clock {
 public:
  TimePoint now() const override;
  WallTime wall() const override;
  Alarm call_at(const asio::any_io_executor& executor, TimePoint at, std::function<void()> action) override;
  void cancel(const Alarm& alarm) override;

 private:
  void arm(const asio::any_io_executor& executor);
  void ring();

  Alarms alarms_;
  std::shared_ptr<asio::steady_timer> timer_;  ///< there while there are alarms: it keeps the loop alive
  TimePoint armed_ = TimePoint::max();         ///< when the timer ends
};

}  // namespace kube::async
