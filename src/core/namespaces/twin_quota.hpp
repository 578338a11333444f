// Bounds for the objects in a consumer's twins: one ResourceQuota in each twin, which the API server enforces, and
// bounds for all twins together.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/common/resources.hpp"
#include "core/namespaces/twin_plan.hpp"

namespace liqo::core {

/// The name of the ResourceQuota in a twin.
inline constexpr std::string_view twin_quota_name = "liqo-twin";

/// Bounds by the names that ResourceQuotas have for them, e.g. "count/secrets".
struct TwinBounds {
  Resources twin;      ///< for each twin
  Resources consumer;  ///< for all twins of a consumer together
};

/// The number of pods for which a Quota counts that does not bound pods.
inline constexpr std::int64_t pods_without_bound = 20'000;

/// The number of pods by which a consumer's Secrets, ConfigMaps and volume claims are bounded: what its Quotas grant,
/// in full thousands, so that a small change of a slice writes into no twin, and at most pods_without_bound.
std::int64_t counted_pods(std::span<const kube::Object> quotas);

/// The usual bounds for so many pods, with what a policy sets in their place: `twin` of its `twinQuota`, `consumer` of
/// its `tenantQuota`.
TwinBounds twin_bounds(std::int64_t pods, const Resources& twin, const Resources& consumer);

/// The use in `status.used` of a twin's ResourceQuota; empty if it has not been counted.
Resources twin_usage(const kube::Object& quota);

/// The names whose bound for the whole consumer is used up by its twins together. A name that was spent `before` stays
/// spent until a tenth of its bound is free again, because each change is written into all twins.
std::set<std::string> spent_bounds(const TwinBounds& bounds, const Resources& used,
                                   const std::set<std::string>& before);

/// `spec.hard` for a twin's ResourceQuota: of a spent name no more than the twin holds by `quota` (null = nothing).
Resources twin_hard(const TwinBounds& bounds, const std::set<std::string>& spent, const kube::Object* quota);

/// The ResourceQuota to create in the twin, with these amounts.
kube::Object forge_twin_quota(std::string_view twin, const TwinContext& ctx, const Resources& hard);
/// JSON merge patch that makes an existing ResourceQuota as it should be; nothing if it is so already.
std::optional<kube::json::object> plan_twin_quota(const kube::Object& quota, const TwinContext& ctx,
                                                  const Resources& hard);

/// Whether the API server lets objects be created in the twin: it refuses them until every bounded kind has been
/// counted once. Kinds of Liqo are not waited for; they are counted within half a minute of the installation.
bool is_counted(const kube::Object& quota);

}  // namespace liqo::core
