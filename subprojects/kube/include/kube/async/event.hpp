// A flag that coroutines wait for: the one condition variable of this library.
// Tested by test/async/async_test.cpp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "kube/async/clock.hpp"

namespace kube::async {

namespace asio = boost::asio;

/// Level-triggered: `set()` before `wait()` is not forgotten. Any number of waiters; one thread.
class Event {
 public:
  explicit Event(const asio::any_io_executor& executor);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Wakes all waiters; later waits return at once until `reset()`.
  void set();
  /// Clears the flag: waits go on until the next set(), also those that were woken and have not run yet.
  void reset() { set_ = false; }
  bool is_set() const { return set_; }
  /// Returns once the flag is set. Cancellation (terminal) throws operation_aborted.
  asio::awaitable<void> wait();
  /// As `wait()`, until `deadline`: whether the flag is set.
  asio::awaitable<bool> wait_until(Clock& clock, Deadline deadline);
  /// Likewise, for that long from now on.
  asio::awaitable<bool> wait_for(Clock& clock, Duration timeout) {
    return wait_until(clock, clock.deadline_in(timeout));
  }
  /// As `wait()`, and clears the flag: for one consumer that takes all there is at each wake-up.
  asio::awaitable<void> wait_and_reset();

 private:
  asio::awaitable<void> next_wake();

  asio::steady_timer waiters_;
  bool set_ = false;
};

}  // namespace kube::async
