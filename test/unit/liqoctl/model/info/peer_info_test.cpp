// `info` and `info peer`: documents and their text.
#include <doctest/doctest.h>

#include "core/peering/clock_skew.hpp"
#include "kube/testing/tree.hpp"
#include "model/info/local_info.hpp"
#include "model/info/peer_info.hpp"
#include "text/path.hpp"

namespace {

using namespace liqoctl;
namespace json = kube::json;

kube::Object parsed(const char* text) {
  auto object = kube::Object::parse(text);
  REQUIRE(object);
  return *object;
}

model::PeerObjects gpu_pool() {
  model::PeerObjects objects;
  objects.foreign_cluster = parsed(R"({"metadata":{"name":"cool-firefly"},"spec":{"clusterID":"cool-firefly"},
    "status":{"role":"Provider","apiServerUrl":"https://10.0.0.1:6443","modules":{
      "networking":{"enabled":false},
      "authentication":{"enabled":true,"conditions":[{"type":"AuthIdentityControlPlaneStatus","status":"Ready"}]},
      "offloading":{"enabled":true,"conditions":[{"type":"OffloadingNodeStatus","status":"Ready"}]}}}})");
  objects.slices = {parsed(R"({"metadata":{"name":"gpu-pool","labels":{"liqo.io/replication":"true"}},
    "spec":{"class":"default"},"status":{"conditions":[{"type":"Authentication","status":"Accepted"},
    {"type":"Resources","status":"Accepted"}],
    "resources":{"nvidia.com/gpu":"2","pods":"30","memory":"8Gi","cpu":"4"}}})")};
  objects.virtual_nodes = {parsed(R"({"metadata":{"name":"gpu-pool","labels":{"liqo.io/resourceslice-name":"gpu-pool"}},
    "spec":{"clusterID":"cool-firefly","createNode":true,"kubeconfigSecretRef":{"name":"kubeconfig-resourceslice-gpu-pool"},
    "resourceQuota":{"hard":{"cpu":"4"}}},"status":{"conditions":[{"type":"Node","status":"Running"}]}})")};
  objects.nodes = {
      parsed(R"({"metadata":{"name":"gpu-pool"},"status":{"conditions":[{"type":"Ready","status":"True"}]}})")};
  return objects;
}

std::string picked(const model::PeerObjects& objects, const char* path) {
  const json::value document = model::peer_info(objects);
  const auto part = text::pick(document, path);
  REQUIRE(part);
  return model::render_peer(*part, path, {});
}

TEST_CASE("an accepted slice is shown as the documentation shows it") {
  CHECK(picked(gpu_pool(), "authentication.resourceslices") ==
        "─ Resource slices ──────────────────────────────────────────────\n"
        "  ─ gpu-pool ──────────────────────────────────────────────────\n"
        "    ✔  Resource slice accepted\n"
        "    Action: Consuming\n"
        "    ─ Resources ──────────────────────────────────────────────\n"
        "      cpu:               4\n"
        "      memory:            8Gi\n"
        "      pods:              30\n"
        "      nvidia.com/gpu:    2\n");
}

TEST_CASE("a virtual node whose Node is that of another cluster is not healthy, and says why it has none") {
  auto objects = gpu_pool();
  objects.nodes.front().set_label("liqo.io/remote-cluster-id", "naples");
  objects.virtual_nodes.front().mutable_status()["conditions"] = json::array{
      json::object{{"type", "Node"}, {"status", "None"}, {"message", "t/gpu-pool has the Node of this name"}},
      json::object{
          {"type", "VirtualKubelet"}, {"status", "None"}, {"message", "t/gpu-pool has the Node of this name"}}};
  const std::string shown = picked(objects, "offloading.virtualnodes");
  CHECK(shown.contains("Node is None: t/gpu-pool has the Node of this name"));
  CHECK_FALSE(shown.contains("VirtualKubelet"));
  CHECK(shown.contains("the Node is not Ready: it is not there"));
  objects.nodes.front().set_label("liqo.io/remote-cluster-id", "cool-firefly");
  CHECK_FALSE(picked(objects, "offloading.virtualnodes").contains("it is not there"));
}

TEST_CASE("a denied slice says why, and a fresh one that it waits") {
  auto objects = gpu_pool();
  objects.slices = {parsed(R"({"metadata":{"name":"b","labels":{"liqo.io/replicated":"true"}},"status":{"conditions":[
                      {"type":"Authentication","status":"Accepted"},
                      {"type":"Resources","status":"Denied","message":"the tenant is\ndrained"}]}})"),
                    parsed(R"({"metadata":{"name":"a"}})")};
  CHECK(picked(objects, "Authentication.ResourceSlices") ==
        "─ Resource slices ──────────────────────────────────────────────\n"
        "  ─ a ─────────────────────────────────────────────────────────\n"
        "    …  Resource slice not answered yet\n"
        "    Action: Consuming\n"
        "  ─ b ─────────────────────────────────────────────────────────\n"
        "    ✖  Resource slice not accepted\n"
        "    !  Resources is Denied: the tenant is drained\n"
        "    Action: Providing\n");
}

TEST_CASE("a drain is a state on both sides, and its amounts stay for programs as those of a quota do") {
  auto objects = gpu_pool();
  objects.slices = {parsed(R"({"metadata":{"name":"a","labels":{"liqo.io/replicated":"true",
      "liqo.io/remote-cluster-id":"rome"}},"status":{"resources":{"cpu":"2"},"conditions":[
      {"type":"Resources","status":"Denied","reason":"TenantDrained",
       "message":"the provider has drained this cluster: it grants nothing, and its pods end"}]}})")};
  CHECK(picked(objects, "authentication.resourceslices") ==
        "─ Resource slices ──────────────────────────────────────────────\n"
        "  ─ a ─────────────────────────────────────────────────────────\n"
        "    •  Resource slice is Drained\n"
        "    !  Resources is Denied: this cluster has drained consumer rome: it grants nothing, and its pods end\n"
        "    Action: Providing\n");
  CHECK(picked(objects, "authentication.resourceslices.a.accepted") == "false\n");
  CHECK(picked(objects, "authentication.resourceslices.a.drained") == "true\n");
  CHECK(picked(objects, "authentication.resourceslices.a.resources.cpu") == "2\n");
  objects.slices.front().set_label("liqo.io/replicated", "");
  CHECK(picked(objects, "authentication.resourceslices").contains("•  Resource slice is Drained\n"));
  CHECK(picked(gpu_pool(), "authentication.resourceslices.gpu-pool.drained") == "false\n");
}

TEST_CASE("a slice that is accepted and cordoned says both") {
  auto objects = gpu_pool();
  objects.slices = {parsed(R"({"metadata":{"name":"a"},"status":{"conditions":[{"type":"Resources","status":"Accepted",
                      "reason":"ResourceSliceCordoned","message":"new pods are refused"}]}})")};
  CHECK(picked(objects, "authentication.resourceslices") ==
        "─ Resource slices ──────────────────────────────────────────────\n"
        "  ─ a ─────────────────────────────────────────────────────────\n"
        "    ✔  Resource slice accepted\n"
        "    !  Cordoned: new pods are refused\n"
        "    Action: Consuming\n");
  CHECK(picked(objects, "authentication.resourceslices.a.accepted") == "true\n");
}

TEST_CASE("a Node that its provider has closed says why, and is well all the same") {
  auto objects = gpu_pool();
  kube::ensure_object(objects.nodes.front().tree(), "spec")["taints"] =
      json::array{json::object{{"key", "virtual-node.liqo.io/closed"}, {"value", "cordoned"}}};
  CHECK(picked(objects, "offloading.virtualnodes")
            .contains("!  the Node takes no new pods: cluster cool-firefly has cordoned node gpu-pool\n"));
  CHECK(picked(objects, "offloading.virtualnodes.gpu-pool.closed") == "cordoned\n");
  CHECK(picked(objects, "offloading.status") == "Healthy\n");
  CHECK(picked(gpu_pool(), "offloading.virtualnodes.gpu-pool.closed") == "\n");
}

TEST_CASE("what a consumer may do here stands beside the state of its Tenant") {
  auto objects = gpu_pool();
  objects.tenants = {parsed(R"({"metadata":{"name":"rome","annotations":{
    "liqo.io/pod-policy":"{\"maxResources\":{\"cpu\":\"3\"}}"}},"spec":{"clusterID":"rome"}})")};
  CHECK(picked(objects, "authentication.policy") == "maxResources (cpu 3)\n");
  CHECK(picked(objects, "authentication").contains("Tenant:        Active\n"));
  CHECK(picked(objects, "authentication").contains("Policy:        maxResources (cpu 3)\n"));
  objects.tenants.front().set_annotation("liqo.io/pod-policy", "");
  CHECK(picked(objects, "authentication.policy") == "default\n");
  // The policy could not be read.
  objects.tenants = {parsed(R"({"metadata":{"name":"rome"},"spec":{"clusterID":"rome"}})")};
  CHECK_FALSE(picked(objects, "authentication").contains("Policy"));
}

TEST_CASE("the whole of a peering has four sections") {
  const std::string all = model::render_peer(model::peer_info(gpu_pool()), "", {});
  std::size_t at = 0;
  for (const char* title : {"─ Peer cluster info ─", "  Cluster ID:    cool-firefly\n", "  Role:          Provider\n",
                            "─ Network ─", "  Status:    Disabled\n", "─ Authentication ─",
                            "API server:    https://10.0.0.1:6443", "  ─ Resource slices ─", "─ Offloading ─",
                            "Status:    Healthy", "  ─ Virtual nodes ─", "kubeconfig-resourceslice-gpu-pool"}) {
    CAPTURE(title);
    const std::size_t found = all.find(title, at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
}

TEST_CASE("scalars are bare, and false is not missing") {
  CHECK(picked(gpu_pool(), "info.role") == "Provider\n");
  CHECK(picked(gpu_pool(), "network.status") == "Disabled\n");
  CHECK(picked(gpu_pool(), "authentication.resourceslices.gpu-pool.accepted") == "true\n");
  auto denied = gpu_pool();
  denied.slices = {parsed(R"({"metadata":{"name":"a"}})")};
  CHECK(picked(denied, "authentication.resourceslices.0.accepted") == "false\n");
}

TEST_CASE("offloading is healthy only with every Node Ready, and pending without conditions") {
  auto objects = gpu_pool();
  objects.nodes.clear();
  CHECK(picked(objects, "offloading.status") == "Unhealthy\n");
  objects = gpu_pool();
  objects.virtual_nodes.clear();
  kube::testing::ensure_path(objects.foreign_cluster.mutable_status(), {"modules", "offloading"}) = {{"enabled", true}};
  CHECK(picked(objects, "offloading.status") == "Pending\n");
}

TEST_CASE("the provider sees quotas, cordons and the tenant's condition") {
  auto objects = gpu_pool();
  objects.tenants = {parsed(R"({"metadata":{"name":"t"},"spec":{"tenantCondition":"Cordoned"}})")};
  objects.quotas = {
      parsed(R"({"metadata":{"name":"gpu-pool-c34af51dd912"},"spec":{"limitsEnforcement":"Hard","cordoned":true,
    "resources":{"cpu":"4"}},"status":{"used":{"cpu":"1500m"}}})")};
  CHECK(picked(objects, "authentication.tenantcondition") == "Cordoned\n");
  CHECK(picked(objects, "offloading.quotas") ==
        "─ Quotas ───────────────────────────────────────────────────────\n"
        "  ─ gpu-pool-c34af51dd912 ─────────────────────────────────────\n"
        "    !  Cordoned: new pods are refused\n"
        "    Enforcement:    Hard\n"
        "    ─ Granted ────────────────────────────────────────────────\n"
        "      cpu:    4\n"
        "    ─ Used ───────────────────────────────────────────────────\n"
        "      cpu:    1500m\n");
}

TEST_CASE("an API server whose clock is off is told of") {
  auto objects = gpu_pool();
  objects.foreign_cluster.mutable_status()["conditions"] = json::array{json::object{
      {"type", "APIServerStatus"},
      {"status", "Established"},
      {"message", "the API server of the peer is ready; " + liqo::core::describe_clock(std::chrono::seconds(3600))}}};
  const std::string wanted = "!  API server: its clock is 60 min ahead of ours";
  CHECK(picked(objects, "authentication").contains(wanted));
  model::LocalObjects local{.cluster_id = "rome"};
  local.foreign_clusters = {objects.foreign_cluster};
  CHECK(model::render_local(model::local_info(local), "", {}).contains(wanted));
}

TEST_CASE("a virtual node that is deleted with its slice is no failure, and another one is") {
  auto objects = gpu_pool();
  json::object& module =
      kube::testing::ensure_path(objects.foreign_cluster.mutable_status(), {"modules", "offloading"});
  module = {
      {"enabled", true},
      {"conditions", json::array{json::object{{"type", "OffloadingVirtualNodeStatus"}, {"status", "SomeNotReady"}}}}};
  objects.virtual_nodes.front().mutable_status()["conditions"] =
      json::array{json::object{{"type", "VirtualKubelet"}, {"status", "Running"}}};
  const kube::Object well = objects.virtual_nodes.front();
  kube::Object going = parsed(R"({"metadata":{"name":"batch","labels":{"liqo.io/resourceslice-name":"batch"}},
      "spec":{"clusterID":"cool-firefly"},"status":{"conditions":[{"type":"VirtualKubelet","status":"Draining"}]}})");
  going.mutable_metadata()["namespace"] = well.ns();
  going.mutable_spec()["clusterID"] = kube::string_at(well.spec(), {"clusterID"});
  kube::Object slice = parsed(R"({"metadata":{"name":"batch","deletionTimestamp":"2026-01-01T06:28:52Z"}})");
  slice.mutable_metadata()["namespace"] = well.ns();
  objects.virtual_nodes.push_back(going);
  CHECK(picked(objects, "offloading.status") == "Unhealthy\n");
  objects.slices.push_back(slice);
  CHECK(picked(objects, "offloading.status") == "Healthy\n");
  CHECK_FALSE(picked(objects, "offloading").contains("SomeNotReady"));
  CHECK(picked(objects, "authentication.resourceslices").contains("•  Resource slice is being deleted"));
  // The first virtual node has its own trouble.
  objects.virtual_nodes.front().mutable_status()["conditions"] =
      json::array{json::object{{"type", "VirtualKubelet"}, {"status", "Creating"}}};
  CHECK(picked(objects, "offloading.status") == "Unhealthy\n");
  CHECK(picked(objects, "offloading").contains("SomeNotReady"));
}

TEST_CASE("a quota of a drained consumer shows that nothing is granted") {
  auto objects = gpu_pool();
  objects.tenants = {parsed(R"({"metadata":{"name":"t"},"spec":{"tenantCondition":"Drained"}})")};
  objects.quotas = {parsed(R"({"metadata":{"name":"pool"},"spec":{"cordoned":true,"resources":{"cpu":"4"}}})")};
  const std::string shown = picked(objects, "offloading.quotas");
  CHECK(shown.contains("!  Drained: nothing is granted, new pods are refused"));
  CHECK_FALSE(shown.contains("Granted"));
  CHECK(picked(objects, "offloading.quotas.pool.drained") == "true\n");
  CHECK(picked(objects, "offloading.quotas.pool.resources.cpu") == "4\n");
}

TEST_CASE("a provider that answers and does not act is told of, everywhere") {
  auto objects = gpu_pool();
  const std::string words = "Liqo of cluster milan has not run since 04:32:41 UTC; it has 3 orders of yours";
  objects.foreign_cluster.mutable_status()["conditions"] = json::array{json::object{
      {"type", "APIServerStatus"},
      {"status", "Established"},
      {"message", "the API server of the peer is ready; " + words + "; new pods are kept away meanwhile; " +
                      liqo::core::describe_clock(std::chrono::seconds(3600))}}};
  // It accepts our identity, but does nothing for us.
  const std::string shown = picked(objects, "offloading");
  CHECK(shown.contains("!  " + words));
  CHECK(picked(objects, "offloading.status") == "Unhealthy\n");
  CHECK(picked(objects, "authentication.status") == "Healthy\n");
  CHECK(picked(objects, "authentication").contains("its clock is 60 min ahead"));
  model::LocalObjects local{.cluster_id = "rome"};
  local.foreign_clusters = {objects.foreign_cluster};
  const std::string all = model::render_local(model::local_info(local), "", {});
  CHECK(all.contains("!  " + words));
  CHECK(all.contains("!  API server: its clock is 60 min ahead"));
}

TEST_CASE("a provider that does not answer is told of, with the time, everywhere") {
  auto objects = gpu_pool();
  objects.foreign_cluster.mutable_status()["conditions"] = json::array{
      json::object{{"type", "APIServerStatus"}, {"status", "Error"}, {"lastTransitionTime", "2026-01-01T06:28:52Z"}}};
  objects.virtual_nodes.front().mutable_status()["conditions"] = json::array{
      json::object{{"type", "VirtualKubelet"}, {"status", "Creating"}, {"message", "the provider does not answer"}}};
  objects.nodes = {parsed(R"({"metadata":{"name":"gpu-pool"},"status":{"conditions":[
    {"type":"Ready","status":"False","message":"no answer in time"}]}})")};
  const std::string since = "!  cool-firefly does not answer since 2026-01-01T06:28:52Z";
  CHECK(picked(objects, "authentication").contains(since));
  CHECK(picked(objects, "authentication.status") == "Unhealthy\n");
  CHECK(picked(objects, "offloading").contains("!  VirtualKubelet is Creating: the provider does not answer"));
  CHECK(picked(objects, "offloading").contains("!  the Node is not Ready: no answer in time"));
  model::LocalObjects local{.cluster_id = "rome"};
  local.foreign_clusters = {objects.foreign_cluster};
  CHECK(model::render_local(model::local_info(local), "", {}).contains(since));
}

TEST_CASE("a consumer whose policy cannot be read has an alert") {
  model::LocalObjects local{.cluster_id = "milan"};
  local.foreign_clusters = {parsed(R"({"metadata":{"name":"rome"},"spec":{"clusterID":"rome"}})")};
  local.lending.tenants = {parsed(R"({"metadata":{"name":"rome","annotations":{
      "liqo.io/pod-policy":"{\"maxResorces\":{}}"}},"spec":{"clusterID":"rome"}})")};
  const auto told = [&local] { return model::render_local(model::local_info(local), "", {}); };
  CHECK(told().contains("!  its policy cannot be read ("));
  CHECK(told().contains("liqoctl set tenant rome"));
  local.lending.tenants.front().set_annotation("liqo.io/pod-policy", R"({"hostPorts":true})");
  CHECK_FALSE(told().contains("!"));
}

TEST_CASE("a liqod that does not run is no healthy installation") {
  model::LocalObjects local{.cluster_id = "rome"};
  local.daemon_alert = "is scaled to none: kubectl scale";
  const json::value document = model::local_info(local);
  CHECK_FALSE(kube::bool_at(document, {"health", "healthy"}));
  const std::string told = model::render_local(document, "", {});
  CHECK(told.contains("✖  liqod is scaled to none: kubectl scale"));
  CHECK_FALSE(told.contains("runs elsewhere"));
}

TEST_CASE("what may not be read is unknown, not absent") {
  model::LocalObjects objects{.cluster_id = "rome"};
  objects.unknown = {{"health", "forbidden"}, {"peerings", "forbidden"}};
  const json::value document = model::local_info(objects);
  const std::string shown = model::render_local(document, "", {});
  CHECK_FALSE(shown.contains("None"));
  CHECK_FALSE(shown.contains("no pods"));
  CHECK(shown.find("unknown (forbidden)") != shown.rfind("unknown (forbidden)"));
  CHECK(model::render_local(*text::pick(document, "health.healthy"), "health.healthy", {}) == "false\n");
}

TEST_CASE("amounts are shown as people write them, and kept as they are for programs") {
  auto objects = gpu_pool();
  kube::ensure_object(objects.slices.front().mutable_status(), "resources")["pods"] = "2k";
  CHECK(picked(objects, "authentication.resourceslices").contains("pods:              2000\n"));
  CHECK(picked(objects, "authentication.resourceslices.gpu-pool.resources.pods") == "2k\n");
}

TEST_CASE("hostile objects are shown as absent") {
  model::PeerObjects objects;
  objects.foreign_cluster = parsed(R"({"metadata":{"name":"x"},"spec":7,"status":{"modules":[],"role":{}}})");
  objects.slices = {
      parsed(R"({"metadata":{"name":"s","labels":[]},"status":{"conditions":[1,"a",{"status":2}],"resources":[]}})")};
  objects.virtual_nodes = {parsed(R"({"metadata":{"name":"s"},"spec":[],"status":{"conditions":{"a":1}}})")};
  CHECK(model::render_peer(model::peer_info(objects), "", {}).find("Unknown") != std::string::npos);
}

TEST_CASE("the local installation shows its peers and the pods that are not up") {
  model::LocalObjects objects{.cluster_id = "rome", .version = "", .server = "10.0.0.1:6443"};
  objects.foreign_clusters = {gpu_pool().foreign_cluster};
  objects.lending.virtual_nodes = gpu_pool().virtual_nodes;
  objects.lending.nodes = gpu_pool().nodes;
  objects.pods = {parsed(R"({"metadata":{"name":"bad"},"spec":{"containers":[{}]},"status":{"phase":"Pending"}})"),
                  parsed(R"({"metadata":{"name":"good"},"spec":{"containers":[{}]},"status":{"phase":"Running",
                    "containerStatuses":[{"ready":true}]}})")};
  const json::value document = model::local_info(objects);
  CHECK(model::render_local(document, "", {}) ==
        "─ Local installation info ──────────────────────────────────────\n"
        "  Cluster ID:    rome\n"
        "  Version:       unknown\n"
        "  API server:    10.0.0.1:6443\n"
        "─ Installation health ──────────────────────────────────────────\n"
        "  ✖  pods of Liqo that are not up:\n"
        "  bad:    Pending, 0 of 1 containers ready, 0 restarts\n"
        "─ Active peerings ──────────────────────────────────────────────\n"
        "  ─ cool-firefly ──────────────────────────────────────────────\n"
        "    Role:                     Provider\n"
        "    Networking status:        Disabled\n"
        "    Authentication status:    Healthy\n"
        "    Offloading status:        Healthy\n");
  CHECK(model::render_local(*text::pick(document, "local.clusterid"), "local.clusterid", {}) == "rome\n");
}

TEST_CASE("a virtual node that is being deleted is told of, and is no failure") {
  model::LocalObjects objects{.cluster_id = "rome"};
  objects.foreign_clusters = {gpu_pool().foreign_cluster};
  json::object& modules = kube::ensure_object(objects.foreign_clusters.front().mutable_status(), "modules");
  kube::ensure_object(modules, "offloading")["conditions"] =
      json::array{json::object{{"type", "OffloadingVirtualNodeStatus"}, {"status", "SomeNotReady"}}};
  objects.lending.virtual_nodes = gpu_pool().virtual_nodes;
  const auto told = [&objects] { return model::render_local(model::local_info(objects), "", {}); };
  CHECK(told().contains("Offloading status:        Unhealthy"));
  objects.lending.virtual_nodes.front().mutable_metadata()["deletionTimestamp"] = "2026-11-21T10:00:00Z";
  CHECK(told().contains("    !  virtual node gpu-pool is being deleted\n"));
  CHECK(told().contains("Offloading status:        Healthy"));
}

TEST_CASE("a consumer is shown by what it is lent, and not by what is offloaded to it") {
  model::LocalObjects objects{.cluster_id = "milan", .version = "", .server = "10.0.0.1:6443"};
  objects.foreign_clusters = {
      parsed(R"({"metadata":{"name":"rome"},"spec":{"clusterID":"rome"},"status":{"role":"Consumer"}})")};
  objects.lending.tenants = {
      parsed(R"({"metadata":{"name":"rome"},"spec":{"clusterID":"rome","tenantCondition":"Cordoned"}})")};
  objects.lending.slices = {parsed(R"({"metadata":{"name":"a","labels":{"liqo.io/remote-cluster-id":"rome",
      "liqo.io/replicated":"true"}},"status":{"resources":{"cpu":"2"}}})")};
  const std::string shown = model::render_local(model::local_info(objects), "", {});
  CHECK(shown.contains("    !  Tenant rome is Cordoned here (liqoctl uncordon tenant rome)\n"));
  CHECK(shown.contains("    Tenant:                   Cordoned\n"));
  CHECK(shown.contains("    Lent:                     1 slice (cpu 2)\n"));
  CHECK_FALSE(shown.contains("Offloading status"));
  CHECK(json::value(model::local_info(objects)).at("peerings").at("peers").at(0).at("tenantCondition") == "Cordoned");
}

}  // namespace
