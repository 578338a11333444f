// Class "share": a percentage of what is free in the provider's cluster, and when a grant follows it.
#pragma once

#include <optional>

#include "core/common/resources.hpp"
#include "kube/base/time.hpp"

namespace liqo::core {

/// The part of `free` that is granted. An amount in `bounds` is the upper limit of the share, and its resource is in
/// the result even if the cluster has none. cpu is rounded down to 1m, memory and storage down to 1Mi, huge pages down
/// to whole pages; counted resources (pods, extended resources) are rounded half up, and are at least 1 while one is
/// free. With 0 % everything is 0. The part is divided by `slices` (>= 1), the number of such slices of the consumer,
/// so that they do not take it twice; counted resources are divided in whole pieces.
Resources share_of(const Resources& free, int percentage, const Resources& bounds, int slices = 1);

/// A grant follows what is free after it has been quiet for this long, or at once if an amount changes by more than
/// this percentage of what is granted.
inline constexpr kube::Duration share_quiet_time = std::chrono::seconds(10);
inline constexpr int share_jump_percentage = 5;

/// A share that is not granted yet, because what is free may go on changing.
struct PendingShare {
  Resources target;
  kube::TimePoint since{};
};

/// What a share is granted now, and what is left to decide.
struct ShareStep {
  Resources granted;                    ///< from now on
  std::optional<PendingShare> pending;  ///< for the next call
  kube::Duration again_after{};         ///< when to ask again if nothing changes; 0 = not at all
};

/// Decides whether the grant becomes `target` now.
ShareStep settle_share(const Resources& granted, const Resources& target, const std::optional<PendingShare>& pending,
                       kube::TimePoint now);

}  // namespace liqo::core
