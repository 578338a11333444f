// Two VirtualNodes of one name, for two providers: one has the Node and the session, the other stands aside.
#include "../offloading_fixture.hpp"
#include "kube/k8s/condition.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

/// Besides milan there is naples, whose tenant namespace gets a VirtualNode called "milan" as well.
struct TwoProviders : Offloading {
  TwoProviders() : naples(simulator.clock()), to_naples(simulator, naples, "rome") {
    stop();
    naples.serve(kinds::shadow_pods);
    connect = [this](const std::string& cluster,
                     const kube::Object&) -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
      if (cluster == "milan") return std::make_unique<AdmittingLink>(to_milan, admit, outage, refuse);
      return std::make_unique<AdmittingLink>(to_naples, admit, naples_outage, naples_refuse);
    };
    kube::Object secret = kube::Object::make(resources::secrets, {other_tenant, "kubeconfig"});
    secret.tree()["data"] = json::object{{"kubeconfig", kube::encode_base64("naples")}};
    apply(resources::secrets, secret);
    change(kinds::virtual_nodes, {tenant, "milan"}, "", [](json::object& next) {
      next["spec"].as_object()["resourceQuota"] =
          json::object{{"hard", json::object{{"cpu", "8"}, {"memory", "8Gi"}, {"pods", "20"}}}};
    });
    pass(2s);
    start();
    REQUIRE(reaches([&] { return has_session("milan"); }));
  }
  ~TwoProviders() { stop(); }

  void add_younger() {
    kube::Object node = kube::Object::make(kinds::virtual_nodes, younger);
    node.mutable_spec() = json::object{
        {"clusterID", "naples"},
        {"createNode", true},
        {"kubeconfigSecretRef", json::object{{"name", "kubeconfig"}}},
        {"resourceQuota", json::object{{"hard", json::object{{"cpu", "2"}, {"memory", "2Gi"}, {"pods", "9"}}}}}};
    apply(kinds::virtual_nodes, node);
    // The map that is made for it, as it is if naples has a twin.
    const kube::ObjectKey map{other_tenant, "naples"};
    REQUIRE(reaches([&] { return has(kinds::namespace_maps, map); }));
    change(kinds::namespace_maps, map, "status", [](json::object& next) {
      next["status"] = json::object{
          {"currentMapping", json::object{{shop, json::object{{"remoteNamespace", twin}, {"phase", "Accepted"}}}}}};
    });
  }
  /// A ShadowPod in naples, as a version made it that gave both VirtualNodes a session.
  void order_at_naples(std::string_view name, std::string_view node) {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, {twin, std::string(name)});
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::reflection_destination, "naples");
    shadow.set_label(api::labels::node_name, node);
    REQUIRE(naples.create(kinds::shadow_pods, shadow.tree(), "rome").has_value());
  }
  bool at_naples(std::string_view name) { return naples.get(kinds::shadow_pods, {twin, std::string(name)}) != nullptr; }
  bool has_session(std::string_view cluster) {
    const auto node = find(resources::nodes, {"", "milan"});
    return node && node->label(api::labels::remote_cluster_id) == cluster && kube::has_condition(*node, "Ready");
  }
  /// "status reason" of a condition of the younger one.
  std::string says(std::string_view type) {
    const auto node = find(kinds::virtual_nodes, younger);
    const json::object* found = node ? kube::find_condition(node->status(), type) : nullptr;
    if (!found) return "";
    return std::string(kube::string_at(*found, {"status"})) + " " + std::string(kube::string_at(*found, {"reason"}));
  }
  std::string message(std::string_view type) {
    const auto node = find(kinds::virtual_nodes, younger);
    const json::object* found = node ? kube::find_condition(node->status(), type) : nullptr;
    return found ? std::string(kube::string_at(*found, {"message"})) : "";
  }
  std::size_t writes_of(std::string_view plural) const {
    std::size_t count = 0;
    for (const auto& write : server.writes()) count += write.actor == link.actor() && write.plural == plural;
    return count;
  }
  void remove(const kube::ObjectKey& virtual_node) {
    static_cast<void>(server.remove(kinds::virtual_nodes, virtual_node, {}, "operator"));
  }

  const std::string other_tenant = "liqo-tenant-naples";
  const kube::ObjectKey older{tenant, "milan"}, younger{other_tenant, "milan"};
  kube::testing::FakeApiServer naples;
  kube::testing::SimLink to_naples;
  Outage naples_outage = [](kube::HttpRequest&) { return false; };
  Refusal naples_refuse = [](const kube::HttpRequest&) { return std::string(); };
};

}  // namespace

TEST_CASE("of two VirtualNodes of one name the older keeps Node and pods, and the younger ends its own") {
  TwoProviders world;
  world.create_pod("web");
  world.run_at_milan("web");
  world.order_at_naples("web", "milan");
  world.order_at_naples("of-another-node", "naples");
  world.add_younger();
  CHECK(world.reaches([&] { return !world.at_naples("web"); }));
  CHECK(world.reaches([&] { return world.says("VirtualKubelet") == "None NodeNameTaken"; }));
  CHECK(world.says("Node") == "None NodeNameTaken");
  CHECK(
      world.message("Node") ==
      "VirtualNode liqo-tenant-milan/milan of cluster milan has the Node of this name, because it is older: delete one "
      "of the two, and create it under another name");
  CHECK(world.reaches([&] { return !world.events("NodeNameTaken").empty(); }));
  world.pass(1min);

  const std::size_t of_nodes = world.writes_of("nodes"), of_pods = world.writes_of("pods"),
                    of_virtual_nodes = world.writes_of("virtualnodes");
  world.create_pod("second");
  world.run_at_milan("second");
  world.pass(2min);
  CHECK(world.at_naples("of-another-node"));
  CHECK_FALSE(world.at_naples("second"));
  CHECK(world.has_session("milan"));
  // A heartbeat may be due.
  CHECK(world.writes_of("nodes") <= of_nodes + 1);
  CHECK(world.writes_of("virtualnodes") == of_virtual_nodes);
  CHECK(world.writes_of("pods") <= of_pods + 4);
  CHECK(world.events("NodeNameTaken").size() == 1);

  // The mistake is removed, and nothing else with it.
  world.remove(world.younger);
  CHECK(world.reaches([&] { return !world.has(kinds::virtual_nodes, world.younger); }));
  world.pass(1min);
  CHECK(world.has_session("milan"));
  CHECK_FALSE(kube::bool_at(world.find(resources::nodes, {"", "milan"})->tree(), {"spec", "unschedulable"}));
  CHECK_FALSE(world.local("web")->is_deleting());
  world.create_pod("third");
  world.run_at_milan("third");
}

TEST_CASE("an order that is stored after the session of a younger VirtualNode has ended is found") {
  TwoProviders world;
  world.add_younger();
  REQUIRE(world.reaches([&] { return world.says("VirtualKubelet") == "None NodeNameTaken"; }));
  world.pass(10s);
  world.order_at_naples("late", "milan");
  CHECK(world.reaches([&] { return !world.at_naples("late"); }, 30s));
}

TEST_CASE("when the older VirtualNode goes the younger takes the Node, and a restart before it changes nothing") {
  TwoProviders world;
  world.add_younger();
  REQUIRE(world.reaches([&] { return world.says("Node") == "None NodeNameTaken"; }));
  world.stop();
  world.start();
  world.pass(10s);
  CHECK(world.has_session("milan"));
  CHECK(world.says("Node") == "None NodeNameTaken");
  world.remove(world.older);
  CHECK(world.reaches([&] { return !world.has(kinds::virtual_nodes, world.older); }));
  CHECK(world.reaches([&] { return world.has_session("naples"); }));
  CHECK(world.reaches([&] { return world.says("Node") == "Running "; }));
  world.create_pod("web");
  CHECK(world.reaches([&] { return world.at_naples("web"); }));
}

TEST_CASE("a younger VirtualNode that goes waits for a provider that does not answer, until that is given up") {
  TwoProviders world;
  world.order_at_naples("web", "milan");
  world.naples_outage = [](kube::HttpRequest&) { return true; };
  world.add_younger();
  REQUIRE(world.reaches([&] { return world.says("VirtualKubelet") == "Draining PodsNotEnded"; }, 3min));
  world.remove(world.younger);
  world.pass(3min);
  CHECK(world.has(kinds::virtual_nodes, world.younger));
  CHECK(world.has_session("milan"));
  kube::Object foreign = kube::Object::make(kinds::foreign_clusters, {"", "naples"});
  foreign.mutable_spec()["clusterID"] = "naples";
  foreign.set_annotation("liqo.io/foreign-cluster-permanently-unreachable", "true");
  world.apply(kinds::foreign_clusters, foreign);
  CHECK(world.reaches([&] { return !world.has(kinds::virtual_nodes, world.younger); }, 3min));
}

}  // namespace liqo::testing
