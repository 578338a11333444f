// The next step for one claim of StorageClass liqo.
// Tested by test/unit/core/storage/volume_test.cpp.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core::storage {

/// The name of this process's own cluster in sentences.
inline constexpr std::string_view this_cluster = "this cluster";

/// A backing claim that is not bound after this time is late, and a Warning Event of its claim says so.
inline constexpr std::chrono::seconds binding_patience{60};

/// A claim and what was found about it. References outlive the call.
struct VolumeSight {
  const kube::Object& claim;
  const kube::Object* volume = nullptr;   ///< that of the claim; null = there is none
  const kube::Object* backing = nullptr;  ///< the backing claim as its API server has it; null = there is none
  bool is_local = false;                  ///< the backing claim belongs in this cluster
  std::string where;  ///< the backing claim's cluster, for sentences: "cluster milan", "this cluster"
  /// The backing claim is bound only when a pod uses it, so that the volume has to be created first.
  bool waits_for_consumer = false;
  bool is_late = false;  ///< the backing claim has not been bound for `binding_patience`
};

/// A Warning Event of a claim.
struct VolumeWarning {
  std::string_view reason;
  std::string message;
  bool for_pods = false;  ///< the pods that use the claim get the Event, too
  bool operator==(const VolumeWarning&) const = default;
};

namespace volume_action {
/// POST the backing claim.
struct CreateBacking {};
/// The backing claim is there: POST the volume.
struct CreateVolume {};
/// Remove the backing claim, which is still empty, and let the scheduler choose again.
struct Discard {};
/// There is no volume yet, and its backing claim is not ready.
struct AwaitBacking {
  std::optional<VolumeWarning> warning;
};
/// The backing claim is to ask for what the claim asks for.
struct PatchBacking {
  kube::json::object patch;  ///< merge patch for the backing claim
  bool operator==(const PatchBacking&) const = default;
};
/// The volume is to show what the backing claim has got.
struct PatchVolume {
  kube::json::object patch;  ///< merge patch for the volume
  bool operator==(const PatchVolume&) const = default;
};
/// The claim is to show what the backing claim has got.
struct PatchClaim {
  kube::json::object patch;  ///< merge patch for the status of the claim
  bool operator==(const PatchClaim&) const = default;
};
using Step = std::variant<PatchBacking, PatchVolume, PatchClaim>;
/// The claim has its volume, or has lost it. At most one step of each kind is due, in the order of Step. The Event is
/// about what they correct, or about what nothing can.
struct Keep {
  std::optional<VolumeWarning> warning;
  std::vector<Step> steps;
  bool operator==(const Keep&) const = default;
};
}  // namespace volume_action

/// The next step.
using VolumePlan = std::variant<volume_action::CreateBacking, volume_action::CreateVolume, volume_action::Discard,
                                volume_action::AwaitBacking, volume_action::Keep>;

/// Plans the next step for one claim of class liqo, its backing claim and its volume.
VolumePlan plan_volume(const VolumeSight& sight);

/// Whether the capacity of `backing` is what the claim asks for, or more.
bool has_grown(const kube::Object& claim, const kube::Object& backing);

/// Whether a volume whose claim is gone is to be deleted together with its data.
bool is_to_be_deleted(const kube::Object& volume);

}  // namespace liqo::core::storage
