#include "kube/async/alarms.hpp"

namespace kube::async {

Alarm Alarms::add(TimePoint at, std::function<void()> action) {
  const Alarm alarm{at, ++newest_};
  actions_.emplace(alarm, std::move(action));
  return alarm;
}

std::function<void()> Alarms::take(TimePoint until, std::uint64_t newest) {
  for (auto next = actions_.begin(); next != actions_.end() && next->first.first <= until; ++next)
    if (next->first.second <= newest) return std::move(actions_.extract(next).mapped());
  return {};
}

}  // namespace kube::async
