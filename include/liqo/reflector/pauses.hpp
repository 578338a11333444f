// Times that reflection has in common with what else watches twins.
#pragma once

#include <chrono>

#include "kube/base/time.hpp"

namespace liqo::reflector {

/// How late a request may still be carried out that nobody waits for any more. That of an earlier process counts from
/// when its twin was read: nothing was to be seen of it then.
inline constexpr kube::Duration late_after = std::chrono::seconds(75);

/// People are told again after this time what they have been told before, where it did not hold for a while or may be
/// worded differently each time.
inline constexpr kube::Duration tell_again_after = std::chrono::minutes(10);

}  // namespace liqo::reflector
