#include "kube/testing/sim/virtual_clock.hpp"

namespace kube::testing {

WallTime VirtualClock::wall() const {
  return start_ + std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch() - std::chrono::hours(1));
}

std::optional<TimePoint> VirtualClock::next() const {
  if (alarms_.next() == TimePoint::max()) return std::nullopt;
  return std::max(now_, alarms_.next());
}

bool VirtualClock::advance_to_next() {
  const auto at = next();
  if (!at) return false;
  now_ = *at;
  alarms_.take(now_)();
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
