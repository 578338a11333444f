// The pauses of the provisioner of volumes between two looks, and how much it reads at a time.
#pragma once

#include <cstddef>

#include "kube/base/time.hpp"

namespace liqo::controllers {

/// The time between two looks: at a claim that is in progress, at first and later, and at one that is complete.
inline constexpr kube::Duration soon = std::chrono::seconds(1), later = std::chrono::seconds(15),
                                rarely = std::chrono::minutes(5);
/// The most bytes of an answer that is expected to be short.
inline constexpr std::size_t max_bytes = 1U << 20;

}  // namespace liqo::controllers
