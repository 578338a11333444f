// What may run in the twins of a consumer whose roles let it start pods there through others: shares of what its
// Quotas grant, one ResourceQuota for each twin. Pure.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/quota/resources.hpp"

namespace liqo::core {

/// The name of that ResourceQuota, beside `twin_quota_name`.
inline constexpr std::string_view twin_pods_quota_name = "liqo-twin-pods";
/// So many objects of each kind that a tenant's role lets write a twin may hold.
inline constexpr std::int64_t most_custom_objects = 1'000;

/// What ShadowPods hold by the API user that created them.
using HeldByUser = std::map<std::string, Resources, std::less<>>;

/// What the Quotas of a consumer grant its pods, by the names that ResourceQuotas have for it. A cordoned Quota grants
/// what its pods hold and no more, a drained one nothing. `limits.*` are bounded where every Quota enforces them.
Resources granted_to_twins(std::span<const kube::Object> quotas, const HeldByUser& held);
/// The demand of pods (core/quota/demand.hpp) by those names.
Resources as_quota_names(const Resources& demand);

/// One twin, as the caches have it.
struct TwinPods {
  std::string twin;
  bool exists = false;   ///< its ResourceQuota is there
  bool leaving = false;  ///< the namespace is being deleted: nothing new begins in it, and nothing is written
  Resources hard;        ///< as written
  /// What the API server admits by, and what it has counted: `status.hard` and `status.used`.
  Resources admitted, used;
  Resources waiting;  ///< demand of the ShadowPods whose Pods are not there yet
  Resources whole;    ///< demand of all ShadowPods that have not finished
};
/// Reads the ResourceQuota into it.
void read_twin_quota(const kube::Object& quota, TwinPods& twin);

/// Which amounts are to be written now, by twin; those of a twin without ResourceQuota are for a new one.
///
/// For each resource, at every moment, what the API server has admitted or may still admit in all twins together is at
/// most what is granted; where it is more already, it does not grow. The API server admits by `status.hard`, and notes
/// what it admits by a write that fails where the object has changed. Therefore amounts that shrink are written first,
/// and others grow only by what the `status` of all twins together leaves of the grant. Each twin gets what its
/// ShadowPods need, then all the same share of the rest. Nothing is written while every twin has what it needs and
/// something, at least half of that share, to spare.
std::map<std::string, Resources> plan_twin_pods(const Resources& granted, std::span<const TwinPods> twins);

/// Whether everything in `granted` is counted in the twin.
bool is_bounded(const TwinPods& twin, const Resources& granted);

/// What the ResourceQuota of a twin is to be.
struct TwinPodsQuota {
  std::string_view consumer;
  const Resources& hard;               ///< these amounts, beside those that it has
  const std::set<std::string>& kinds;  ///< so many of each kind are bounded, and of no other
};
kube::Object forge_twin_pods_quota(std::string_view twin, const TwinPodsQuota& wanted);
/// Whether each of the kinds is counted. One that is not lets nobody make any.
bool are_counted(const kube::Object& quota, const std::set<std::string>& kinds);
/// JSON merge patch with the resourceVersion that makes the ResourceQuota what is wanted, with the limits that are
/// granted now; nothing where all is so. `recount`: kinds that are not counted get another
/// bound, by one, because kube-controller-manager counts what it has come to know since only when something changes.
std::optional<kube::json::object> plan_twin_pods_quota(const kube::Object& quota, const TwinPodsQuota& wanted,
                                                       const Resources& granted, bool recount = false);

}  // namespace liqo::core
