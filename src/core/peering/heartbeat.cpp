#include "liqo/core/peering/heartbeat.hpp"

#include <algorithm>

#include "liqo/api/labels.hpp"
#include "liqo/api/tenant.hpp"
#include "liqo/core/owner.hpp"

namespace liqo::core {
namespace json = kube::json;

kube::Object forge_heartbeat_lease(const kube::Object& tenant) {
  kube::Object lease =
      kube::Object::make(kube::resources::leases, {std::string(tenant.ns()), std::string(heartbeat_lease)});
  lease.mutable_spec()["holderIdentity"] = api::Tenant(tenant).cluster_id();
  lease.add_owner_reference(owner_of(tenant));
  return lease;
}

json::object heartbeat_patch(std::string_view consumer, kube::WallTime now) {
  return {{"spec", json::object{{"holderIdentity", consumer}, {"renewTime", kube::format_micro_time(now)}}}};
}

SilencePlan plan_silence(const HeartbeatSight& sight, kube::Duration max_silence) {
  const std::string_view last = kube::string_at(sight.lease.spec(), {"renewTime"});
  const auto time = kube::parse_time(last);
  const bool is_far_ahead = time && *time - sight.seen > max_silence;
  // A consumer that writes an unreadable time is there all the same, so it is not cordoned.
  if (time && sight.now - (is_far_ahead ? sight.seen : *time) >= max_silence &&
      sight.tenant.annotation(api::annotations::silent_since) != last)
    return silence_action::Cordon{.last = std::string(last),
                                  .since = is_far_ahead ? kube::format_time(sight.seen) : std::string(last)};
  return silence_action::LookAgain{
      std::clamp<kube::Duration>(max_silence / 10, std::chrono::seconds(1), heartbeat_interval)};
}

json::object silence_patch(const kube::Object& tenant, std::string_view last) {
  return {{"metadata", json::object{{"resourceVersion", tenant.resource_version()},
                                    {"annotations", json::object{{api::annotations::silent_since, last}}}}},
          {"spec", json::object{{"tenantCondition", api::to_string(api::TenantCondition::cordoned)}}}};
}

}  // namespace liqo::core
