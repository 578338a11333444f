#include "installation/chart_objects.hpp"

#include <algorithm>
#include <array>

#include "kube/base/printable.hpp"
#include "liqo/api/kinds.hpp"
#include "model/install/kinds.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
using kube::Errc;

/// A selector of the labels that every object of the chart has.
constexpr std::string_view chart_objects =
    "app.kubernetes.io/name=liqod,app.kubernetes.io/instance=liqo,app.kubernetes.io/part-of=liqo";

/// The kinds of the chart's objects, in the order of removal. The daemon goes first, so that nothing writes any more.
/// Then come the owners of the objects that it made, which Kubernetes removes.
constexpr std::array installed_kinds{
    kinds::deployments,
    kube::Resource{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"},
    kube::Resource{"monitoring.coreos.com", "v1", "podmonitors", "PodMonitor"},
    kube::Resource{"monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor"},
    kube::Resource{"monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule"},
    kube::resources::services,
    kinds::cluster_roles,
    kinds::cluster_role_bindings,
    kinds::roles,
    kinds::role_bindings,
    kube::resources::config_maps,
    kube::resources::service_accounts,
    kube::resources::secrets,
    kinds::network_policies,
    kinds::runtime_classes,
    kinds::storage_classes,
    kinds::vk_options_templates,
};

}  // namespace

Result<kube::Resource> resource_of(const json::value& manifest) {
  const std::string_view kind = kube::string_at(manifest, {"kind"});
  if (kind == kube::resources::namespaces.kind) return kube::resources::namespaces;
  if (kind == kinds::custom_resource_definitions.kind) return kinds::custom_resource_definitions;
  const auto found = std::ranges::find(installed_kinds, kind, &kube::Resource::kind);
  if (found == installed_kinds.end()) return kube::fail(Errc::unsupported, "the chart has a " + std::string(kind));
  return *found;
}

std::set<Place> places_of(const std::vector<json::value>& manifests) {
  std::set<Place> places;
  for (const json::value& manifest : manifests)
    places.emplace(kube::string_at(manifest, {"kind"}), Object(manifest.as_object()).key());
  return places;
}

asio::awaitable<Result<std::vector<ChartObject>>> find_all_but(Cluster& cluster, std::set<Place> kept) {
  std::vector<ChartObject> others;
  for (const kube::Resource& kind : installed_kinds) {
    auto found = co_await cluster.list(kind, "", std::string(chart_objects));
    // PodMonitors are a kind of Prometheus, which a cluster may not have.
    if (!found && found.error().is_not_found()) continue;
    if (!found) co_return std::unexpected(std::move(found.error()));
    for (const Object& object : *found)
      if (!kept.contains({kind.kind, object.key()})) others.push_back({kind, object.key()});
  }
  co_return others;
}

asio::awaitable<Result<bool>> would_narrow(Cluster& cluster, const Object& definition) {
  KUBE_CO_TRY(there, co_await cluster.find(kinds::custom_resource_definitions, definition.key()));
  if (!there) co_return false;
  const auto lost = model::lost_between(there->tree(), definition.tree());
  if (lost.empty()) co_return false;
  cluster.output().info(cluster.scope(), "CRD " + definition.key().name +
                                             " stays as it is: it takes more than that of " + "this version (" +
                                             kube::printable(lost.front()) + ")");
  co_return true;
}

}  // namespace liqoctl
