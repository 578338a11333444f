#include "controllers/namespaces/held_in_twins.hpp"

#include <utility>
#include <vector>

#include "controllers/common/tenant_namespace_of.hpp"
#include "core/policy/pod_policy.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {

void HeldInTwins::see_bounds(const kube::ObjectKey& key) {
  if (key.name != core::twin_quota_name) return;
  Bounded now;
  if (const auto quota = caches_.bounds->find(key))
    now = {.consumer = std::string(quota->label(api::labels::remote_cluster_id)),
           .used = core::twin_usage(*quota),
           .state = (core::is_counted(*quota) ? "+" : "-") +
                    kube::json::serialize(kube::object_at(quota->spec(), {"hard"}))};
  Bounded before = std::exchange(bounded_[key], now);
  core::subtract(held_[before.consumer].total, before.used);
  core::add(held_[now.consumer].total, now.used);
  // The usage changes with each object, which matters to no one ...
  if (before.state != now.state) handlers_.twin_changed(key.ns);
  // ... until a bound of all twins of the consumer together is reached or left.
  for (const std::string& consumer : {before.consumer, now.consumer}) see_held(consumer);
  if (now.state.empty()) bounded_.erase(key);
}

void HeldInTwins::see_held(const std::string& consumer) {
  Held& held = held_[consumer];
  if (const std::string tenant = tenant_namespace_of(caches_.namespaces->store(), consumer); !tenant.empty()) {
    auto spent = core::spent_bounds(bounds_of(tenant), held.total, held.spent);
    if (spent != held.spent) handlers_.bounds_changed(tenant);
    held.spent = std::move(spent);
  }
  core::drop_zeros(held.total);
  if (held.total.empty()) held_.erase(consumer);
}

void HeldInTwins::see_grant(const kube::ObjectKey& key) {
  std::vector<kube::Object> grants;
  for (kube::Object& quota : caches_.grants->objects_in(key.ns)) grants.push_back(std::move(quota));
  const std::int64_t pods = core::counted_pods(grants);
  const std::int64_t before = std::exchange(pods_[key.ns], pods);
  if (pods == 0) pods_.erase(key.ns);
  if (before == pods) return;
  handlers_.bounds_changed(key.ns);
}

core::TwinBounds HeldInTwins::bounds_of(const std::string& ns) const {
  const auto tenant = caches_.namespaces->find({"", ns});
  // A policy that cannot be parsed bounds as the default one does.
  const auto policy =
      core::read_pod_policy(tenant ? tenant->annotation(api::annotations::pod_policy) : "").value_or(core::PodPolicy());
  const auto pods = pods_.find(ns);
  return core::twin_bounds(pods == pods_.end() ? 0 : pods->second, policy.twin_quota, policy.tenant_quota);
}

core::Resources HeldInTwins::hard(const core::TwinContext& ctx, const kube::Object* existing) {
  const core::TwinBounds bounds = bounds_of(ctx.map.ns);
  // The bounds may have changed since a twin last came near them.
  Held& held = held_[ctx.origin];
  held.spent = core::spent_bounds(bounds, held.total, held.spent);
  return core::twin_hard(bounds, held.spent, existing);
}

}  // namespace liqo::controllers
