// The time that is left to the garbage collector.
#pragma once

#include <chrono>

#include "kube/base/time.hpp"

namespace liqo::controllers {

/// An object whose owner was deleted a moment ago is left to the garbage collector, and looked at again after this
/// time.
inline constexpr kube::Duration collector_time = std::chrono::seconds(5);

}  // namespace liqo::controllers
