// Time that moves only when it is told to: the clock of simulations and of tests that would otherwise sleep.
#pragma once

#include <functional>
#include <optional>

#include "kube/async/clock.hpp"

namespace kube::testing {

namespace asio = boost::asio;

/// A clock without a connection to the operating system's. One thread. Must outlive every coroutine that sleeps on it.
class VirtualClock final : public async::Clock {
 public:
  /// 2026-01-01T00:00:00Z, so that timestamps in failing runs are recognisable.
  static constexpr WallTime default_start{std::chrono::seconds(1767225600)};
  explicit VirtualClock(WallTime start = default_start) : start_(start) {}
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;

  TimePoint now() const override { return now_; }
  WallTime wall() const override;
  async::Alarm call_at(const asio::any_io_executor&, TimePoint at, std::function<void()> action) override {
    return call_at(at, std::move(action));
  }
  void cancel(const async::Alarm& alarm) override { alarms_.remove(alarm); }

  /// Calls `action` when time reaches `at` (at the next advance, if that has passed).
  async::Alarm call_at(TimePoint at, std::function<void()> action) { return alarms_.add(at, std::move(action)); }
  async::Alarm call_in(Duration delay, std::function<void()> action) {
    return call_at(now_ + delay, std::move(action));
  }

  /// When the earliest alarm is due, if there is one.
  std::optional<TimePoint> next() const;
  /// Moves to the earliest alarm and sets off that one alone; false if there is none.
  bool advance_to_next();
  /// Moves to `at` and sets off, in order, every alarm that is due by then. Never moves back.
  void advance_to(TimePoint at);
  void advance(Duration by) { advance_to(now_ + by); }
  std::size_t pending() const { return alarms_.size(); }

 private:
  // Not zero: code that takes a default TimePoint for "never" would pass by accident.
  TimePoint now_{std::chrono::hours(1)};
  WallTime start_;
  async::Alarms alarms_;
};

}  // namespace kube::testing
