#include "core/peering/heartbeat.hpp"

#include <algorithm>

#include "core/common/owner.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::core {
namespace json = kube::json;

namespace {

std::string_view last_of(const HeartbeatSight& sight) { return kube::string_at(sight.lease.spec(), {"renewTime"}); }

/// Whether the heartbeat is so far ahead that its consumer could not count as silent for longer than anybody waits.
bool is_far_ahead(const HeartbeatSight& sight, kube::Duration max_silence) {
  const auto time = kube::parse_time(last_of(sight));
  return time && *time - sight.seen > max_silence;
}

}  // namespace

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
  const std::string_view last = last_of(sight);
  const auto time = kube::parse_time(last);
  const bool is_ahead = is_far_ahead(sight, max_silence);
  // A consumer that writes an unreadable time is there all the same, so it is not cordoned.
  if (time && sight.now - (is_ahead ? sight.seen : *time) >= max_silence &&
      sight.tenant.annotation(api::annotations::silent_since) != last)
    return silence_action::Cordon{.last = std::string(last),
                                  .since = is_ahead ? kube::format_time(sight.seen) : std::string(last)};
  return silence_action::LookAgain{
      std::clamp<kube::Duration>(max_silence / 10, std::chrono::seconds(1), heartbeat_interval)};
}

std::optional<kube::WallTime> kept_heartbeat(const kube::Object& tenant, std::string_view last, kube::WallTime now) {
  std::string_view kept = tenant.annotation(heartbeat_seen);
  if (last.empty() || !kept.starts_with(last)) return std::nullopt;
  kept.remove_prefix(last.size());
  if (!kept.starts_with(' ')) return std::nullopt;
  const auto seen = kube::parse_time(kept.substr(1));
  return seen && *seen <= now ? std::optional(*seen) : std::nullopt;
}

std::optional<json::object> plan_kept_heartbeat(const HeartbeatSight& sight, kube::Duration max_silence) {
  const std::string_view last = last_of(sight);
  if (!is_far_ahead(sight, max_silence) || kept_heartbeat(sight.tenant, last, sight.now)) return std::nullopt;
  const std::string kept = std::string(last) + " " + kube::format_time(sight.seen);
  return json::object{{"metadata", json::object{{"resourceVersion", sight.tenant.resource_version()},
                                                {"annotations", json::object{{heartbeat_seen, kept}}}}}};
}

json::object silence_patch(const kube::Object& tenant, std::string_view last) {
  return {{"metadata", json::object{{"resourceVersion", tenant.resource_version()},
                                    {"annotations", json::object{{api::annotations::silent_since, last}}}}},
          {"spec", json::object{{"tenantCondition", api::to_string(api::TenantCondition::cordoned)}}}};
}

}  // namespace liqo::core
