// Times that reflection has in common with what else watches twins.
#pragma once

#include <chrono>

#include "kube/base/time.hpp"

namespace liqo::reflector {

/// People are told again after this time what they have been told before, where it did not hold for a while or may be
/// worded differently each time.
inline constexpr kube::Duration tell_again_after = std::chrono::minutes(10);

}  // namespace liqo::reflector
