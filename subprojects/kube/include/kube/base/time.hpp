// Points in time as types, and RFC 3339 as Kubernetes writes it. No clock is read here.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace kube {

using Duration = std::chrono::nanoseconds;
/// A point on the monotonic clock of this process: for deadlines and intervals.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
/// A point in civil time (UTC): for what is written into objects and certificates.
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

/// When something must be over. Handed down unchanged, so that inner calls never extend it.
struct Deadline {
  TimePoint at = TimePoint::max();
  static Deadline never() { return {}; }
};

/// meta/v1 Time: whole seconds, e.g. "2026-11-21T10:00:00Z".
std::string format_time(WallTime time);
/// meta/v1 MicroTime: six digits, e.g. "2026-11-21T10:00:00.000000Z" (Lease.spec.renewTime).
std::string format_micro_time(WallTime time);
/// Reads RFC 3339 with any fraction and offset; any year comes out as a near_time(). Errors: Errc::parse.
Result<WallTime> parse_time(std::string_view text);
/// Reads the Date of an HTTP answer, "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, without its obsolete forms), as a
/// near_time(). Errors: Errc::parse.
Result<WallTime> parse_http_date(std::string_view text);

}  // namespace kube
