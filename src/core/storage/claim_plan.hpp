// The plan for one claim of StorageClass liqo, as far as the claim and its volume show what it needs. Pure.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/storage/volume.hpp"

namespace liqo::core::storage {

/// What the caches have of one claim of our class.
struct ClaimSight {
  const kube::Object& claim;
  const kube::Object* volume = nullptr;  ///< the volume of its name (`volume_name`); null = there is none
  std::string_view storage_class;        ///< ours
};

namespace claim_action {
/// The claim has no volume and is not due, or its volume is one of the Go version, which goes on as it is.
struct Nothing {
  bool operator==(const Nothing&) const = default;
};
/// Remove what was made for the claim, which is being deleted before it has a volume.
struct Abandon {
  bool operator==(const Abandon&) const = default;
};
/// The claim is being deleted and has its volume: what was remembered of it is not needed any more.
struct Forget {
  bool operator==(const Forget&) const = default;
};
/// Record where the data of the volume is, which the Go version made.
struct Adopt {
  std::string cluster;  ///< `unrecorded_place`
  bool operator==(const Adopt&) const = default;
};
/// Report that the volume of the claim's name is somebody else's.
struct Refuse {
  bool operator==(const Refuse&) const = default;
};
/// Make the volume over the data of the volume that the claim is to take over.
struct Take {
  bool operator==(const Take&) const = default;
};
/// Make a volume: look at the claim behind it, and plan by what is there (`plan_volume`).
struct Make {
  bool operator==(const Make&) const = default;
};
/// The claim had its volume. If the API server does not have it either, plan as for Make.
struct Recover {
  bool operator==(const Recover&) const = default;
};
/// Keep the volume as the claim behind it is, which is looked at where the volume records it: plan as for Make.
struct Follow {
  Backing recorded;
  bool operator==(const Follow&) const = default;
};
using Step = std::variant<Nothing, Abandon, Forget, Adopt, Refuse, Take, Make, Recover, Follow>;
}  // namespace claim_action

/// What to do about one claim.
struct ClaimPlan {
  bool release = false;  ///< take our finalizer off the claim first, which has a volume: nothing can be left behind
  claim_action::Step next;
  bool operator==(const ClaimPlan&) const = default;
};

/// Plans what the claim needs before anything is asked of an API server.
ClaimPlan plan_claim(const ClaimSight& sight);

}  // namespace liqo::core::storage
