// Pauses that reflection shares with other code that watches twins.
#pragma once

#include <chrono>

#include "kube/base/time.hpp"

namespace liqo::controllers {

/// A report is repeated after this time at the earliest, if it did not hold for a while or may be worded differently
/// each time.
inline constexpr kube::Duration report_again_after = std::chrono::minutes(10);

}  // namespace liqo::controllers
