// The status of a slice as the provider writes it.
// Tested by test/unit/core/slices/objects_test.cpp.
#pragma once

#include <optional>
#include <vector>

#include "core/slices/grant.hpp"
#include "core/slices/platform.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The storage classes that are offered, as the status lists them: all by name, with at most one default.
kube::json::array offered_storage_classes(const std::vector<kube::Object>& classes, const SlicePolicy& policy);

/// What this cluster offers beside the amounts that it grants.
struct SliceOffer {
  const ReadPolicy& policy;
  const kube::json::array& storage_classes;  ///< offered_storage_classes()
  const Platform* platform = nullptr;        ///< null = not known yet: the labels that are shown stay
  /// Whether pods here resolve names of their home (core/common/home_names.hpp); nothing = not known yet.
  std::optional<bool> home_names = false;
};

/// The merge patch, with the resourceVersion, by which the slice's status shows the plan; nothing if it does so
/// already, or if the plan leaves it alone. Granted resources stay when a later request is denied. Equal quantities
/// keep their spelling. The labels for the consumer's nodes are those of the policy, and OS, architecture and
/// features of the platform if the policy does not name them. A policy that names a feature with another value than
/// "true" keeps it back.
std::optional<kube::json::object> plan_slice_status(const kube::Object& slice, const GrantPlan& plan,
                                                    const SliceOffer& offer, kube::WallTime now);

/// For a slice of a custom class whose tenant is active: the patch that takes back our own denial. The slice is
/// Accepted again if something is `granted` (it has a Quota); else the condition is removed, as if there had been no
/// answer.
std::optional<kube::json::object> plan_slice_restore(const kube::Object& slice, bool granted, kube::WallTime now);

/// The patch that sets the condition "Authentication", with the parameters if they are given.
std::optional<kube::json::object> plan_slice_authentication(const kube::Object& slice, bool accepted,
                                                            const kube::json::object* auth_params, kube::WallTime now);

}  // namespace liqo::core
