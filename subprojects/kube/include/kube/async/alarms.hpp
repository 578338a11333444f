// The actions that a clock still has to call, in the order in which they are due.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "kube/base/time.hpp"

namespace kube::async {

/// An action that is due at a point in time; unique for the life of the clock.
using Alarm = std::pair<TimePoint, std::uint64_t>;

/// The alarms of one clock: by time, and those of one time in the order in which they were set. They know of no time of
/// their own: the clock takes them when it is their turn.
class Alarms {
 public:
  /// `action` is not empty.
  Alarm add(TimePoint at, std::function<void()> action);
  /// Forgets an alarm; harmless if it has been taken.
  void remove(const Alarm& alarm) { actions_.erase(alarm); }

  /// Takes out the earliest alarm that is due by `until`, among those with a number of at most `newest`, and returns
  /// its action: empty if there is no such alarm.
  std::function<void()> take(TimePoint until, std::uint64_t newest = std::numeric_limits<std::uint64_t>::max());

  bool empty() const { return actions_.empty(); }
  std::size_t size() const { return actions_.size(); }
  /// When the earliest alarm is due; TimePoint::max() if there is none.
  TimePoint next() const { return actions_.empty() ? TimePoint::max() : actions_.begin()->first.first; }
  /// The number of the alarm that was set last; 0 = none yet.
  std::uint64_t newest() const { return newest_; }

 private:
  std::map<Alarm, std::function<void()>> actions_;
  std::uint64_t newest_ = 0;
};

}  // namespace kube::async
