// How long the garbage collector may take.
#pragma once

#include <chrono>

#include "kube/base/time.hpp"

namespace liqo::controllers {

/// An object whose owner was deleted a moment ago is the garbage collector's: it is looked at again so long after.
inline constexpr kube::Duration collector_time = std::chrono::seconds(5);

}  // namespace liqo::controllers
