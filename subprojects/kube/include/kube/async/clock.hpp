// Time as an injected dependency: the process runs on RealClock, simulations on a virtual one.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "kube/base/time.hpp"

namespace kube::async {

namespace asio = boost::asio;

/// Where every timer, deadline and timestamp comes from. Not thread-safe; used on the loop's thread only.
class Clock {
 public:
  virtual ~Clock() = default;
  /// The monotonic time.
  virtual TimePoint now() const = 0;
  /// Civil time, for timestamps in objects and validity of certificates.
  virtual WallTime wall() const = 0;
  /// Waits until `at` and answers true, at once if that has passed; false where it was cancelled (terminal). For races:
  /// the loser's end costs no exception. Whoever is answered false awaits nothing more.
  virtual asio::awaitable<bool> wait_until(TimePoint at) = 0;

  /// Waits until `at`; returns at once if that has passed. Cancellation (terminal) throws operation_aborted.
  asio::awaitable<void> sleep_until(TimePoint at);

  asio::awaitable<void> sleep(Duration duration) { return sleep_until(now() + duration); }
  Deadline deadline_in(Duration duration) const { return {now() + duration}; }
};

/// The clocks of the operating system.
class RealClock final : public Clock {
 public:
  TimePoint now() const override;
  WallTime wall() const override;
  asio::awaitable<bool> wait_until(TimePoint at) override;
};

}  // namespace kube::async
