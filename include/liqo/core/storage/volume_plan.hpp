// What is to be done next about one claim of StorageClass liqo.
#pragma once

#include <optional>
#include <string>

#include "kube/k8s/object.hpp"

namespace liqo::core::storage {

/// The name of this process's own cluster in sentences.
inline constexpr std::string_view this_cluster = "this cluster";

/// A claim and what was found about it. References outlive the call.
struct VolumeSight {
  const kube::Object& claim;
  const kube::Object* volume = nullptr;   ///< that of the claim; null = there is none
  const kube::Object* backing = nullptr;  ///< the backing claim as its API server has it; null = there is none
  std::string where;  ///< the backing claim's cluster, for sentences: "cluster milan", "this cluster"
  /// The backing claim is bound only when a pod uses it, so that the volume has to be created first.
  bool waits_for_consumer = false;
  bool is_late = false;  ///< the backing claim has not been bound for a minute
};

/// The next step and the patches, of which none, one or several may be due beside it.
struct VolumePlan {
  enum class Next {
    settled,         ///< nothing but the patches
    wait,            ///< for the backing claim
    create_backing,  ///< make it
    create_volume,
    discard,  ///< remove the backing claim, which is still empty, and let the scheduler choose again
  };
  Next next = Next::settled;
  /// Merge patches; empty = nothing to write. `claim_status` is for the status of the claim.
  kube::json::object backing, volume, claim_status;
  std::string_view reason;  ///< of the Event with `message`; "" = no Event
  std::string message;
  bool for_pods = false;  ///< the pods that use the claim get the Event, too

  bool operator==(const VolumePlan&) const = default;
};

VolumePlan plan_volume(const VolumeSight& sight);

/// Whether the capacity of `backing` is what the claim asks for, or more.
bool has_grown(const kube::Object& claim, const kube::Object& backing);

/// Whether a volume whose claim is gone is to be deleted together with its data.
bool is_to_be_deleted(const kube::Object& volume);

}  // namespace liqo::core::storage
