// What the provider writes into the status of a slice.
#pragma once

#include <optional>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/slices/grant.hpp"
#include "liqo/core/slices/platform.hpp"

namespace liqo::core {

/// The storage classes that are offered, as the status lists them: all by name, with at most one default.
kube::json::array offered_storage_classes(const std::vector<kube::Object>& classes, const SlicePolicy& policy);

/// What this cluster offers beside the amounts that it grants.
struct SliceOffer {
  const SlicePolicy& policy;
  const kube::json::array& storage_classes;  ///< offered_storage_classes()
  const Platform* platform = nullptr;        ///< null = not known yet: what is shown of it stays
};

/// The merge patch of the object's status that shows the decision, with the resourceVersion; nothing where it does so
/// already, or where the verdict leaves it alone. What was granted stays in it when a request is denied. Quantities
/// that are equal are left as they are written. The labels for the consumer's nodes are those of the policy, and what
/// the machines are where it does not say.
std::optional<kube::json::object> plan_slice_status(const kube::Object& slice, const GrantDecision& decision,
                                                    const SliceOffer& offer, kube::WallTime now);

/// For a slice of a custom class whose tenant is active: the patch that takes back our own denial. Where something is
/// granted (its Quota is there) the slice is Accepted again, else it is as if nobody had answered.
std::optional<kube::json::object> plan_slice_restore(const kube::Object& slice, bool granted, kube::WallTime now);

/// The patch that sets the condition "Authentication", with the parameters where they are given.
std::optional<kube::json::object> plan_slice_authentication(const kube::Object& slice, bool accepted,
                                                            const kube::json::object* auth_params, kube::WallTime now);

}  // namespace liqo::core
