#include "core/namespaces/twin_quota.hpp"

#include <algorithm>

#include "core/namespaces/resource_quota.hpp"
#include "liqo/api/quota.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

struct Bound {
  std::string_view name;
  std::int64_t twin, consumer;
  bool and_pods = false;  ///< plus the number of granted pods
};

/// The Go version as consumer sends all Secrets of a namespace, and one more for each pod. Kubernetes puts a ConfigMap
/// into each namespace, and makes EndpointSlices for Services beside those of ShadowEndpointSlices. Node ports and load
/// balancers are bounded tightly because all namespaces of the cluster share them.
constexpr Bound usual[] = {
    {"count/configmaps", 1'000, 20'000, true},
    {"count/endpointslices.discovery.k8s.io", 10'000, 40'000},
    {"count/ingresses.networking.k8s.io", 1'000, 5'000},
    {"count/persistentvolumeclaims", 1'000, 5'000, true},
    {"count/poddisruptionbudgets.policy", 100, 1'000},
    {"count/secrets", 1'000, 20'000, true},
    {"count/services", 1'000, 5'000},
    {"count/shadowendpointslices.offloading.liqo.io", 5'000, 20'000},
    {"services.loadbalancers", 20, 50},
    {"services.nodeports", 100, 200},
};
constexpr std::int64_t pods_step = 1'000;

bool is_of_liqo(std::string_view name) { return name.ends_with(".liqo.io"); }

}  // namespace

std::int64_t counted_pods(std::span<const kube::Object> quotas) {
  kube::Quantity sum;
  for (const kube::Object& object : quotas) {
    const auto granted = read_resources(api::Quota(object).resources());
    const auto pods = granted ? granted->find("pods") : Resources::const_iterator();
    sum += granted && pods != granted->end() ? pods->second : kube::Quantity(pods_without_bound);
  }
  for (std::int64_t pods = 0; pods < pods_without_bound; pods += pods_step)
    if (sum <= kube::Quantity(pods)) return pods;
  return pods_without_bound;
}

TwinBounds twin_bounds(std::int64_t pods, const Resources& twin, const Resources& consumer) {
  TwinBounds bounds{.twin = twin, .consumer = consumer};
  for (const Bound& bound : usual) {
    const std::int64_t more = bound.and_pods ? pods : 0;
    bounds.twin.emplace(bound.name, kube::Quantity(bound.twin + more));
    bounds.consumer.emplace(bound.name, kube::Quantity(bound.consumer + more));
  }
  // A bound over all twins needs a count in each twin.
  for (const auto& [name, amount] : bounds.consumer) bounds.twin.emplace(name, amount);
  return bounds;
}

Resources twin_usage(const kube::Object& quota) {
  return read_resources(kube::object_at(quota.status(), {"used"})).value_or(Resources());
}

std::set<std::string> spent_bounds(const TwinBounds& bounds, const Resources& used,
                                   const std::set<std::string>& before) {
  std::set<std::string> spent;
  for (const auto& [name, bound] : bounds.consumer) {
    const kube::Quantity have = amount(used, name);
    const bool stays = before.contains(name) && bound * 9 < have * 10;
    if (stays || bound <= have) spent.insert(name);
  }
  return spent;
}

Resources twin_hard(const TwinBounds& bounds, const std::set<std::string>& spent, const kube::Object* quota) {
  Resources hard = bounds.twin;
  const Resources used = quota ? twin_usage(*quota) : Resources();
  for (auto& [name, bound] : hard)
    if (spent.contains(name)) bound = std::min(bound, amount(used, name));
  return hard;
}

kube::Object forge_twin_quota(std::string_view twin, const TwinContext& ctx, const Resources& hard) {
  return forge_resource_quota({std::string(twin), std::string(twin_quota_name)}, ctx.origin, hard);
}

std::optional<json::object> plan_twin_quota(const kube::Object& quota, const TwinContext& ctx, const Resources& hard) {
  return plan_resource_quota(quota, ctx.origin, hard, [&](std::string_view name) { return !hard.contains(name); });
}

bool is_counted(const kube::Object& quota) {
  const json::object& used = kube::object_at(quota.status(), {"used"});
  return std::ranges::all_of(hard_of(quota),
                             [&](const auto& entry) { return is_of_liqo(entry.first) || used.contains(entry.first); });
}

}  // namespace liqo::core
