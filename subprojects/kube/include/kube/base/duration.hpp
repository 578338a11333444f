// Durations as people type them.
#pragma once

#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/base/time.hpp"

namespace kube {

/// Reads "90s", "2m", "1m30s", "1h", "500ms", as Go writes durations of whole milliseconds (no ns, no us), or a number
/// of seconds; none is longer than 115 days. Errors: Errc::invalid_input.
Result<Duration> parse_duration(std::string_view text);

}  // namespace kube
