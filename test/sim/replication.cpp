#include "replication.hpp"

#include "core/peering/replication.hpp"
#include "invariants.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::testing::ChangeType;
using kube::testing::FakeChange;
namespace labels = api::labels;

namespace {

constexpr std::string_view operator_actor = "operator";

std::string_view label(const json::object& object, std::string_view key) {
  return kube::string_at(object, {"metadata", "labels", key});
}

const kube::Resource* replicated_kind(std::string_view plural) {
  for (const kube::Resource& kind : core::replicated_kinds())
    if (kind.plural == plural) return &kind;
  return nullptr;
}

/// The status that the provider sets, made from the present one. Its liqod answers NamespaceMaps.
json::object answered(const kube::Resource& kind, const json::object& replica) {
  json::object status = kube::object_at(replica, {"status"});
  if (kind == api::kinds::renews) {
    status["authParams"] = json::object{{"signedCRT", kube::encode_base64(label(replica, "renewal"))}};
  } else if (kind == api::kinds::resource_slices) {
    status["resources"] = kube::object_at(replica, {"spec", "resources"});
    json::array conditions;
    for (const json::value& entry : kube::array_at(status, {"conditions"}))
      if (kube::string_at(entry, {"type"}) != "Resources") conditions.push_back(entry);
    conditions.push_back(json::object{{"type", "Resources"}, {"status", "Accepted"}});
    status["conditions"] = std::move(conditions);
  }
  return status;
}

std::string compare(World& world, Cluster& provider, const kube::Resource& kind, const json::object& local) {
  const std::string name = std::string(kind.kind) + " " + std::string(name_of(local));
  if (is_deleting(local)) return name + " is still being deleted";
  const Tree remote = provider.server.get(kind, {tenant_namespace(world.home.id), std::string(name_of(local))});
  if (!remote) return name + " has no replica in " + provider.id;
  if (is_deleting(*remote)) return "the replica of " + name + " is being deleted in " + provider.id;
  if (kube::object_at(*remote, {"spec"}) != kube::object_at(local, {"spec"}))
    return "the spec of " + name + " is another in " + provider.id;
  if (label(local, "edit") != label(*remote, "edit"))
    return "label edit=" + std::string(label(local, "edit")) + " of " + name + " is not in " + provider.id;
  if (label(*remote, labels::replicated) != "true") return "the replica of " + name + " has lost its labels";
  if (kube::object_at(local, {"status"}) != kube::object_at(*remote, {"status"}))
    return "the status of " + name + " did not come back from " + provider.id;
  if (answered(kind, *remote) != kube::object_at(local, {"status"}))
    return name + " does not show what " + provider.id + " answers";
  return "";
}

}  // namespace

FakeGrants::FakeGrants(kube::testing::Simulator& simulator, kube::testing::FakeApiServer& server, std::uint64_t seed)
    : simulator_(simulator), server_(server), random_(seed) {
  server_.store().on_change([this](const FakeChange& change) { seen(change); });
}

void FakeGrants::seen(const FakeChange& change) {
  const kube::Resource* kind = replicated_kind(change.kind->plural);
  if (!kind || change.type == ChangeType::deleted || label(*change.after, labels::replicated) != "true") return;
  if (answered(*kind, *change.after) == kube::object_at(*change.after, {"status"})) return;
  const kube::Duration pause(random_.between(kube::Duration(10ms).count(), kube::Duration(3s).count()));
  simulator_.clock().call_in(pause, [this, kind, key = change.key] { answer(*kind, key); });
}

void FakeGrants::answer(const kube::Resource& kind, const ObjectKey& key) {
  const Tree now = server_.get(kind, key);
  if (!now || label(*now, labels::replicated) != "true") return;
  (void)server_.update(
      {kind, key, "status"}, [&](json::object& next) { next["status"] = answered(kind, *now); }, actor);
}

json::object replication_labels(const std::string& provider) {
  return {{labels::replication, "true"},
          {labels::replication_destination, provider},
          {labels::remote_cluster_id, provider}};
}

json::object replicated_slice(const Cluster& consumer, const std::string& provider, const std::string& name) {
  return {{"metadata",
           json::object{
               {"name", name}, {"namespace", tenant_namespace(provider)}, {"labels", replication_labels(provider)}}},
          // No controller of Liqo answers this class.
          {"spec", json::object{{"class", "sim"},
                                {"consumerClusterID", consumer.id},
                                {"providerClusterID", provider},
                                {"csr", "Q1NS"},
                                {"resources", json::object{{"cpu", "4"}}}}}};
}

void add_tenant_namespace(Cluster& cluster, const std::string& peer) {
  const json::object marks{{labels::tenant_namespace, "true"}, {labels::remote_cluster_id, peer}};
  (void)cluster.server.create(kube::resources::namespaces,
                              {{"metadata", json::object{{"name", tenant_namespace(peer)}, {"labels", marks}}}},
                              operator_actor);
}

void add_twin(Cluster& provider, const std::string& consumer) {
  const std::string tenant = tenant_namespace(consumer);
  json::object twin{{"name", twin_namespace(consumer)}};
  twin["labels"] = json::object{{labels::remote_cluster_id, consumer}};
  twin["annotations"] = json::object{{api::annotations::managed_by_namespace_map, tenant + "/" + provider.id},
                                     {api::annotations::original_name, home_namespace}};
  (void)provider.server.create(kube::resources::namespaces, {{"metadata", std::move(twin)}}, operator_actor);
  const json::object marks{{labels::replication, "false"},
                           {labels::replicated, "true"},
                           {labels::replication_origin, consumer},
                           {labels::replication_destination, provider.id},
                           {labels::remote_cluster_id, consumer}};
  const json::object wanted{{home_namespace, twin_namespace(consumer)}};
  (void)provider.server.create(
      api::kinds::namespace_maps,
      {{"metadata", json::object{{"name", provider.id}, {"namespace", tenant}, {"labels", marks}}},
       {"spec", json::object{{"desiredMapping", wanted}}}},
      operator_actor);
  (void)provider.server.update(
      {api::kinds::namespace_maps, {tenant, provider.id}, "status"},
      [&](json::object& next) {
        const json::object entry{{"remoteNamespace", twin_namespace(consumer)}, {"phase", "Accepted"}};
        next["status"] = json::object{{"currentMapping", json::object{{home_namespace, entry}}}};
      },
      operator_actor);
}

void add_replication(Cluster& consumer, const std::string& provider) {
  const std::string tenant = tenant_namespace(provider);
  add_tenant_namespace(consumer, provider);
  json::object secret{{"data", json::object{{"kubeconfig", kube::encode_base64(provider)}}}};
  secret["metadata"] = json::object{
      {"name", "kubeconfig-controlplane-" + provider},
      {"namespace", tenant},
      {"labels",
       json::object{{labels::remote_cluster_id, provider}, {labels::identity_type, api::control_plane_identity}}},
      {"annotations", json::object{{api::annotations::remote_tenant_namespace, tenant_namespace(consumer.id)}}}};
  (void)consumer.server.create(kube::resources::secrets, std::move(secret), operator_actor);
  (void)consumer.server.create(api::kinds::resource_slices, replicated_slice(consumer, provider, "slice-0"),
                               operator_actor);
  json::object renew{{"spec", json::object{{"consumerClusterID", consumer.id}, {"identityType", "ControlPlane"}}}};
  renew["metadata"] = json::object{
      {"name", "controlplane-" + provider}, {"namespace", tenant}, {"labels", replication_labels(provider)}};
  (void)consumer.server.create(api::kinds::renews, std::move(renew), operator_actor);
}

std::string find_replication_difference(World& world) {
  for (auto& [id, provider] : world.providers) {
    for (const kube::Resource& kind : core::replicated_kinds()) {
      for (const Tree& local : world.home.server.list(kind, tenant_namespace(id)))
        if (auto difference = compare(world, *provider, kind, *local); !difference.empty()) return difference;
      for (const Tree& remote : provider->server.list(kind, tenant_namespace(world.home.id)))
        if (!world.home.server.get(kind, {tenant_namespace(id), std::string(name_of(*remote))}))
          return "the replica " + std::string(name_of(*remote)) + " is orphaned in " + id;
    }
    const Tree foreign = world.home.server.get(api::kinds::foreign_clusters, {"", id});
    if (!foreign) return "ForeignCluster " + id + " does not exist";
    if (kube::string_at(*foreign, {"status", "role"}) != "Provider")
      return "ForeignCluster " + id + " has another role";
    for (const json::value& condition : kube::array_at(*foreign, {"status", "conditions"}))
      if (kube::string_at(condition, {"status"}) != "Established")
        return "ForeignCluster " + id + " does not show that its API server answers";
  }
  return "";
}

void end_replication(World& world) {
  kube::testing::FakeApiServer& home = world.home.server;
  world.replicas->scale(0);
  for (const Tree& pod : home.list(kube::resources::pods, home_namespace))
    (void)home.remove(kube::resources::pods, {std::string(home_namespace), std::string(name_of(*pod))}, {},
                      operator_actor);
  for (auto& [id, provider] : world.providers) {
    const std::string tenant = tenant_namespace(id);
    // The last VirtualNode takes the NamespaceMap with it.
    for (const kube::Resource& kind : {api::kinds::virtual_nodes, api::kinds::resource_slices, api::kinds::renews})
      for (const Tree& local : home.list(kind, tenant))
        (void)home.remove(kind, {tenant, std::string(name_of(*local))}, {}, operator_actor);
    (void)world.home.server.remove(kube::resources::secrets, {tenant, "kubeconfig-controlplane-" + id}, {},
                                   operator_actor);
  }
}

std::string find_replication_leftover(World& world) {
  for (auto& [id, provider] : world.providers) {
    const std::string tenant = tenant_namespace(id);
    for (const kube::Resource& kind : core::replicated_kinds()) {
      if (const auto left = world.home.server.list(kind, tenant); !left.empty())
        return std::string(kind.kind) + " " + std::string(name_of(*left[0])) + " is held at home";
      if (const auto left = provider->server.list(kind, tenant_namespace(world.home.id)); !left.empty())
        return "the replica " + std::string(name_of(*left[0])) + " is orphaned in " + id;
    }
    if (world.home.server.get(kube::resources::secrets, {tenant, "kubeconfig-controlplane-" + id}))
      return "the credentials for " + id + " are held";
    if (world.home.server.get(api::kinds::foreign_clusters, {"", id}))
      return "ForeignCluster " + id + " outlives its peer";
  }
  return "";
}

std::vector<Violation> check_replication_history(World& world) {
  std::vector<Violation> found;
  for (const kube::Resource& kind : core::replicated_kinds())
    for (const FakeChange& change : world.home.server.store().table(kind).log) {
      if (change.type != ChangeType::modified || !change.actor.starts_with("liqod-")) continue;
      const json::object& before = kube::object_at(*change.before, {"status"});
      if (!before.empty() && kube::object_at(*change.after, {"status"}).empty())
        found.push_back({"a status is never wiped", std::string(kind.kind) + " " + change.key.name});
    }
  return found;
}

}  // namespace liqo::sim
