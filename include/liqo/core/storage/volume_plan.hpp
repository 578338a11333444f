// What is to be done next about one claim of StorageClass liqo.
#pragma once

#include <optional>
#include <string>

#include "kube/k8s/object.hpp"

namespace liqo::core::storage {

/// How sentences call the cluster that this process serves.
inline constexpr std::string_view this_cluster = "this cluster";

/// What is known. References outlive the call.
struct VolumeSight {
  const kube::Object& claim;
  const kube::Object* volume = nullptr;   ///< of the claim; null = there is none
  const kube::Object* backing = nullptr;  ///< the claim that holds its data, as its server has it; null = there is none
  std::string where;                      ///< for sentences: "cluster milan", "this cluster"
  /// The backing claim is bound only when a pod uses it: making the volume has to come first.
  bool waits_for_consumer = false;
  bool is_late = false;  ///< the backing claim has not been bound for a minute
};

/// One thing is done next. Each of the patches may be due beside another, and is told by itself.
struct VolumePlan {
  enum class Next {
    settled,         ///< nothing but the patches
    wait,            ///< for the backing claim
    create_backing,  ///< make it
    create_volume,
    discard,  ///< remove the backing claim, which nothing was stored in, and have the scheduler choose anew
  };
  Next next = Next::settled;
  /// Merge patches; an empty one is none. That of the claim is for its status.
  kube::json::object backing, volume, claim_status;
  std::string_view reason;  ///< of the Event that tells `message`; "" = nothing is told
  std::string message;
  bool for_pods = false;  ///< the pods that use the claim are told, too

  bool operator==(const VolumePlan&) const = default;
};

VolumePlan plan_volume(const VolumeSight& sight);

/// Whether what `backing` is bound to is as large as the claim asks for.
bool has_grown(const kube::Object& claim, const kube::Object& backing);

/// Whether a volume whose claim is gone is to go, and its data with it.
bool is_to_be_deleted(const kube::Object& volume);

}  // namespace liqo::core::storage
