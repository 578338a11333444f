// Civil times within a span in which arithmetic does not overflow, whatever was written.
// Tested by test/base/time_test.cpp.
#pragma once

#include <algorithm>
#include <chrono>

#include "kube/base/time.hpp"

namespace kube {

/// The span of near times: any two of them can be subtracted, and decades added to one, in nanoseconds (Duration),
/// which hold 292 years.
inline constexpr WallTime earliest_near_time = std::chrono::sys_days{std::chrono::year{1970} / 1 / 1};
inline constexpr WallTime latest_near_time = std::chrono::sys_days{std::chrono::year{2200} / 1 / 1};

/// The time itself, or the end of that span on its side.
constexpr WallTime near_time(WallTime time) { return std::clamp(time, earliest_near_time, latest_near_time); }

}  // namespace kube
