// What a clock still has to do, in the order in which it is due.
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

  /// Takes out the earliest that is due by `until`, of those that were set up to `newest`; empty where there is none.
  std::function<void()> take(TimePoint until, std::uint64_t newest = std::numeric_limits<std::uint64_t>::max());

  bool empty() const { return actions_.empty(); }
  std::size_t size() const { return actions_.size(); }
  /// When the earliest is due; TimePoint::max() where there is none.
  TimePoint next() const { return actions_.empty() ? TimePoint::max() : actions_.begin()->first.first; }
  /// Which one was set last; 0 = none yet.
  std::uint64_t newest() const { return newest_; }

 private:
  std::map<Alarm, std::function<void()>> actions_;
  std::uint64_t newest_ = 0;
};

}  // namespace kube::async
