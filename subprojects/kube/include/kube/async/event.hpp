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
  /// Waits for the flag until `deadline`; returns whether it is set. Cancellation (terminal) throws operation_aborted.
  asio::awaitable<bool> wait_until(Clock& clock, Deadline deadline);
  /// Waits for the flag for at most `timeout`; returns whether it is set. Cancellation (terminal) throws
  /// operation_aborted.
  asio::awaitable<bool> wait_for(Clock& clock, Duration timeout) {
    return wait_until(clock, clock.deadline_in(timeout));
  }
  /// Waits for the flag and clears it: for one consumer that takes all there is at each wake-up. Cancellation
  /// (terminal) throws operation_aborted.
  asio::awaitable<void> wait_and_reset();

 private:
  asio::awaitable<void> next_wake();

  asio::steady_timer waiters_;
  bool set_ = false;
};

}  // namespace kube::async
