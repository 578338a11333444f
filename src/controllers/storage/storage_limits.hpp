// How long the provisioner of volumes waits between two looks, and how much it reads at a time.
#pragma once

#include <cstddef>

#include "kube/base/time.hpp"

namespace liqo::controllers {

/// Between two looks: at a claim of which something is to come, at first and later, and at one that is well.
inline constexpr kube::Duration soon = std::chrono::seconds(1), later = std::chrono::seconds(15),
                                rarely = std::chrono::minutes(5);
/// The most that an answer may have that is expected to be short.
inline constexpr std::size_t max_bytes = 1U << 20;

}  // namespace liqo::controllers
