#include "cluster.hpp"

#include "core/reflection/kind.hpp"
#include "kube/base/base64.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "replication.hpp"

namespace liqo::sim {

namespace {

constexpr std::string_view operator_actor = "operator";

}  // namespace

Cluster::Cluster(kube::testing::Simulator& simulator, std::string cluster_id, std::uint64_t seed)
    : id(std::move(cluster_id)),
      server(simulator.clock(), seed),
      collector(simulator, server),
      quota_controller(simulator, server),
      kubelet(simulator, server, {.node_prefix = "worker-", .report_high = std::chrono::seconds(1)}),
      scheduler(simulator, server, [this](const json::object& pod) { return node_for(pod); }),
      random_(seed) {
  for (const kube::Resource& kind :
       {api::kinds::virtual_nodes, api::kinds::namespace_maps, api::kinds::namespace_offloadings,
        api::kinds::shadow_pods, api::kinds::shadow_endpoint_slices, api::kinds::resource_slices, api::kinds::renews,
        api::kinds::tenants, api::kinds::identities, api::kinds::configurations, api::kinds::foreign_clusters,
        api::kinds::quotas, api::kinds::storage_classes, api::kinds::ips, api::kinds::vk_options_templates})
    server.serve(kind);
  for (const core::reflection::ReflectedKind* kind : core::reflection::reflected_kinds())
    if (!server.serves(kind->resource)) server.serve(kind->resource);
}

void Cluster::add_provider(const std::string& provider) {
  add_offloading(provider);
  add_virtual_node(provider, provider);
  add_replication(*this, provider);
}

void Cluster::add_offloading(const std::string& provider) {
  const std::string tenant = tenant_namespace(provider);
  const auto metadata = [&tenant](std::string_view name) {
    return json::object{{"name", name}, {"namespace", tenant}};
  };
  (void)server.create(
      kube::resources::secrets,
      {{"metadata", metadata("kubeconfig")}, {"data", json::object{{"kubeconfig", kube::encode_base64(provider)}}}},
      operator_actor);
  json::object map{{"metadata", metadata(provider)}};
  map["metadata"].as_object()["labels"] = replication_labels(provider);
  map["spec"] = json::object{{"desiredMapping", json::object{{home_namespace, twin_namespace(id)}}}};
  (void)server.create(api::kinds::namespace_maps, std::move(map), operator_actor);
  (void)server.update(
      {api::kinds::namespace_maps, {tenant, provider}, "status"},
      [this](json::object& next) {
        next["status"] = json::object{
            {"currentMapping", json::object{{home_namespace, json::object{{"remoteNamespace", twin_namespace(id)},
                                                                          {"phase", "Accepted"}}}}}};
      },
      operator_actor);
  // All providers share one NamespaceOffloading: the create for the second provider fails.
  (void)server.create(
      api::kinds::namespace_offloadings,
      {{"metadata", json::object{{"name", api::namespace_offloading_name},
                                 {"namespace", home_namespace},
                                 {"finalizers", json::array{json::value(api::finalizers::namespace_offloading)}}}},
       {"spec", json::object()}},
      operator_actor);
  // The ForeignCluster comes before the VirtualNode: otherwise liqod would make one that declares no ranges. Liqo
  // removes this one like its own.
  (void)server.create(
      api::kinds::foreign_clusters,
      {{"metadata", json::object{{"name", provider},
                                 {"labels", json::object{{api::labels::remote_cluster_id, provider}}},
                                 {"annotations", json::object{{api::annotations::remote_pod_cidrs, "10.0.0.0/8"},
                                                              {api::annotations::made_by_liqod, "true"}}}}},
       {"spec", json::object{{"clusterID", provider}}}},
      operator_actor);
}

void Cluster::add_virtual_node(const std::string& provider, const std::string& name) {
  const json::object hard{{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "500"}};
  (void)server.create(api::kinds::virtual_nodes,
                      {{"metadata", json::object{{"name", name}, {"namespace", tenant_namespace(provider)}}},
                       {"spec", json::object{{"clusterID", provider},
                                             {"createNode", true},
                                             {"kubeconfigSecretRef", json::object{{"name", "kubeconfig"}}},
                                             {"resourceQuota", json::object{{"hard", hard}}}}}},
                      operator_actor);
}

std::string Cluster::node_for(const json::object& pod) {
  // At a provider, pods of consumers run on real nodes.
  if (!kube::string_at(pod, {"metadata", "labels", api::labels::managed_by}).empty()) return worker();
  const std::string_view pinned = kube::string_at(pod, {"metadata", "annotations", pinned_to});
  std::vector<std::string> ready;
  for (const Tree& node : server.list(kube::resources::nodes))
    if (is_ready(*node) && !kube::bool_at(*node, {"spec", "unschedulable"}) &&
        (pinned.empty() || name_of(*node) == pinned))
      ready.emplace_back(name_of(*node));
  if (ready.empty()) return "";
  return ready[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(ready.size()) - 1))];
}

std::string Cluster::worker() {
  std::vector<std::string> known, open;
  for (const Tree& node : server.list(kube::resources::nodes)) {
    if (!name_of(*node).starts_with("worker-")) continue;
    known.emplace_back(name_of(*node));
    if (!kube::bool_at(*node, {"spec", "unschedulable"})) open.emplace_back(name_of(*node));
  }
  if (known.empty()) return "worker-1";
  if (open.empty()) return "";
  return open[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(open.size()) - 1))];
}

std::string twin_namespace(std::string_view home) { return std::string(home_namespace) + "-" + std::string(home); }

std::string provider_of(std::string_view virtual_node) {
  return std::string(virtual_node.substr(0, virtual_node.find('.')));
}
std::string tenant_namespace(std::string_view provider) { return "liqo-tenant-" + std::string(provider); }

json::object workload_pod(std::string_view name, std::string_view restart_policy) {
  return {{"metadata", json::object{{"name", name},
                                    {"namespace", home_namespace},
                                    {"labels", json::object{{"app", "shop"}}},
                                    {"annotations", json::object()}}},
          {"spec", json::object{{"restartPolicy", restart_policy},
                                {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}},
                                                           json::object{{"name", "side"}, {"image", "side:1"}}}}}}};
}

std::string_view uid_of(const json::object& object) { return kube::string_at(object, {"metadata", "uid"}); }
std::string_view name_of(const json::object& object) { return kube::string_at(object, {"metadata", "name"}); }
kube::ObjectKey key_of(const json::object& object) {
  return {std::string(kube::string_at(object, {"metadata", "namespace"})), std::string(name_of(object))};
}
std::string_view phase_of(const json::object& pod) { return kube::string_at(pod, {"status", "phase"}); }
bool is_final(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }
bool is_deleting(const json::object& object) {
  return !kube::string_at(object, {"metadata", "deletionTimestamp"}).empty();
}
bool restarts_always(const json::object& pod) { return kube::string_at(pod, {"spec", "restartPolicy"}) == "Always"; }
bool is_ready(const json::object& node) {
  const json::object* ready = kube::find_condition(kube::object_at(node, {"status"}), "Ready");
  return ready && kube::string_at(*ready, {"status"}) == "True";
}
std::string_view local_uid_of(const json::object& object) {
  return kube::string_at(object, {"metadata", "annotations", api::annotations::local_pod_uid});
}

std::string time_text(kube::TimePoint at) {
  const auto since =
      std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch() - std::chrono::hours(1));
  return "+" + std::to_string(since.count()) + "ms";
}

}  // namespace liqo::sim
