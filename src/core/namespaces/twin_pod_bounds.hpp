// Bounds for the pods that a consumer's further ClusterRoles let it start in its twins through other controllers: one
// ResourceQuota for each twin, with a share of what the consumer's Quotas grant. Pure.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/resources.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The name of that ResourceQuota, beside `twin_quota_name`.
inline constexpr std::string_view twin_pods_quota_name = "liqo-twin-pods";
/// The most objects of each custom kind in a twin, if a tenant's role lets the consumer write that kind.
inline constexpr std::int64_t max_custom_objects = 1'000;

/// What ShadowPods hold, by the creator label: the API user that created them, as escape_user() writes it.
using HeldByUser = std::map<std::string, Resources, std::less<>>;

/// What the Quotas of a consumer grant its pods, by the names that ResourceQuotas have for it. A cordoned Quota grants
/// what its pods hold and no more, a drained one nothing. `limits.*` are bounded if every Quota enforces them.
Resources granted_to_twins(std::span<const kube::Object> quotas, const HeldByUser& held);
/// The demand of pods (core/quota/demand.hpp) by the names that ResourceQuotas have for it.
Resources as_quota_names(const Resources& demand);

/// One twin, as the caches have it.
struct TwinPods {
  std::string twin;
  bool exists = false;   ///< its ResourceQuota is there
  bool leaving = false;  ///< the namespace is being deleted: nothing new begins in it, and nothing is written
  Resources hard;        ///< as written
  /// `status.hard`, by which the API server admits, and `status.used`, which it has counted.
  Resources admitted, used;
  Resources waiting;  ///< demand of the ShadowPods whose Pods are not there yet
  Resources whole;    ///< demand of all ShadowPods that have not finished
};
/// Reads the ResourceQuota into it.
void read_twin_quota(const kube::Object& quota, TwinPods& twin);

/// The amounts to write now, by twin; those of a twin without ResourceQuota are for a new one.
///
/// At every moment, what the API server has admitted or may still admit of a resource in all twins together is at most
/// what is granted; if it is more already, it does not grow. The API server admits by `status.hard`, and records each
/// admission by a write that fails if the object has changed. Therefore amounts that shrink are written first, and
/// others grow only by what the `status` of all twins together leaves of the grant. Each twin gets what its ShadowPods
/// need, and an equal share of the rest. Nothing is written while every twin has what it needs and at least half of
/// that share to spare.
std::map<std::string, Resources> plan_twin_pods(const Resources& granted, std::span<const TwinPods> twins);

/// Whether the ResourceQuota of the twin bounds and counts every resource in `granted`.
bool is_bounded(const TwinPods& twin, const Resources& granted);

/// What the ResourceQuota of a twin is to be.
struct TwinPodsQuota {
  std::string_view consumer;
  const Resources& hard;               ///< these amounts, beside those that it has
  const std::set<std::string>& kinds;  ///< custom kinds of which a twin holds at most max_custom_objects each
};
/// The ResourceQuota to create in the twin.
kube::Object forge_twin_pods_quota(std::string_view twin, const TwinPodsQuota& wanted);
/// Whether the API server counts each of the kinds. It creates no object of a bounded kind that it does not count.
bool are_counted(const kube::Object& quota, const std::set<std::string>& kinds);
/// JSON merge patch with the resourceVersion that makes the ResourceQuota as wanted, with the limits that are granted
/// now; nothing if it is so already. `recount`: the bounds of kinds that are not counted change by one, because
/// kube-controller-manager counts kinds that were installed later only when the ResourceQuota changes.
std::optional<kube::json::object> plan_twin_pods_quota(const kube::Object& quota, const TwinPodsQuota& wanted,
                                                       const Resources& granted, bool recount = false);

}  // namespace liqo::core
