// What the twins of a consumer may hold: one ResourceQuota in each, by which the API server itself counts, and bounds
// for all of them together.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "liqo/core/namespaces/twin_plan.hpp"
#include "liqo/core/quota/resources.hpp"

namespace liqo::core {

/// The name of the ResourceQuota in a twin.
inline constexpr std::string_view twin_quota_name = "liqo-twin";
/// The labels of those.
std::string twin_quota_selector();

/// Bounds by the names that ResourceQuotas have for them, e.g. "count/secrets".
struct TwinBounds {
  Resources twin;      ///< of each twin
  Resources consumer;  ///< of all twins of a consumer together
};

/// For how many pods the Secrets, ConfigMaps and volume claims of a consumer have to suffice: what its Quotas grant, in
/// full thousands, so that a small change of a slice writes into no twin. One that does not bound pods counts as
/// 20,000.
std::int64_t counted_pods(std::span<const kube::Object> quotas);

/// The usual bounds, and what a policy (`twinQuota`, `tenantQuota`) says instead.
TwinBounds twin_bounds(std::int64_t pods, const Resources& twin, const Resources& consumer);

/// What the ResourceQuota of a twin says to be in use; nothing where it has not been counted.
Resources twin_usage(const kube::Object& quota);

/// The names of which the twins of a consumer together hold all that it may have. One that was spent `before` is so
/// until a tenth of its bound is free again, because each change is written into all twins.
std::set<std::string> spent_bounds(const TwinBounds& bounds, const Resources& used,
                                   const std::set<std::string>& before);

/// What the ResourceQuota of a twin grants: nothing more of what is spent than it holds (`quota`, null = nothing).
Resources twin_hard(const TwinBounds& bounds, const std::set<std::string>& spent, const kube::Object* quota);

kube::Object forge_twin_quota(std::string_view twin, const TwinContext& ctx, const Resources& hard);
/// JSON merge patch that makes an existing one as it should be; nothing where it is.
std::optional<kube::json::object> plan_twin_quota(const kube::Object& quota, const TwinContext& ctx,
                                                  const Resources& hard);

/// Whether the API server lets things be created in the twin: until everything that is bounded has been counted once,
/// it refuses them. (Kinds of Liqo are counted within half a minute of the installation, and nothing waits for them.)
bool is_counted(const kube::Object& quota);

}  // namespace liqo::core
