// The conditions of a Node about its provider, and about the network to it.
#include <doctest/doctest.h>

#include "../offloading_fixture.hpp"
#include "kube/testing/tree.hpp"

namespace liqo::testing {

using namespace std::chrono_literals;

namespace {

/// The status of a condition of milan's Node, "" = it has none.
std::string condition_of_node(Offloading& world, std::string_view type) {
  const auto node = world.find(resources::nodes, {"", "milan"});
  if (node)
    for (const json::value& entry : kube::array_at(node->status(), {"conditions"}))
      if (kube::string_at(entry, {"type"}) == type) return std::string(kube::string_at(entry, {"status"}));
  return "";
}

/// Gives milan's virtual node a size, without which it is not Ready, and waits until it is.
void make_ready(Offloading& world) {
  world.change(kinds::virtual_nodes, {tenant, "milan"}, "", [](json::object& next) {
    next["spec"].as_object()["resourceQuota"] = json::object{{"hard", json::object{{"cpu", "8"}, {"memory", "8Gi"}}}};
  });
  REQUIRE(world.reaches([&] { return condition_of_node(world, "Ready") == "True"; }));
}

}  // namespace

TEST_CASE("a Node is Ready only where the network module says that it reaches the provider, or nobody is to look") {
  Offloading world({}, {}, [](Offloading& before) {
    before.server.serve(kinds::configurations);
    kube::Object peer = kube::Object::make(kinds::foreign_clusters, {"", "milan"});
    peer.mutable_spec()["clusterID"] = "milan";
    before.apply(kinds::foreign_clusters, peer);
  });
  const auto condition = [&](std::string_view type) { return condition_of_node(world, type); };
  const auto connection = [&](std::string_view status) {
    world.change(kinds::foreign_clusters, {"", "milan"}, "status", [&](json::object& next) {
      kube::testing::ensure_path(next, {"status", "modules", "networking"})["conditions"] =
          json::array{json::object{{"type", "NetworkConnectionStatus"}, {"status", status}}};
    });
  };
  const auto look_away = [&](bool disabled) {
    world.change(kinds::virtual_nodes, {tenant, "milan"}, "",
                 [&](json::object& next) { next["spec"].as_object()["disableNetworkCheck"] = disabled; });
  };
  make_ready(world);
  // Without a network module no Connection counts.
  connection("Error");
  world.pass(1min);
  CHECK(condition("Ready") == "True");
  CHECK(condition("NetworkUnavailable") == "");
  kube::Object network = kube::Object::make(kinds::configurations, {tenant, "milan"});
  network.set_label(api::labels::remote_cluster_id, "milan");
  world.apply(kinds::configurations, network);
  world.pass(1min);
  CHECK(condition("Ready") == "True");
  connection("Error");
  CHECK(world.reaches([&] { return condition("Ready") == "False" && condition("NetworkUnavailable") == "True"; }));
  look_away(true);
  CHECK(world.reaches([&] { return condition("Ready") == "True" && condition("NetworkUnavailable") == ""; }));
  look_away(false);
  CHECK(world.reaches([&] { return condition("Ready") == "False"; }));
  connection("Established");
  CHECK(world.reaches([&] { return condition("Ready") == "True" && condition("NetworkUnavailable") == "False"; }));
}

TEST_CASE("a Node that is drained while its provider does not answer is not Ready, and goes when it does again") {
  Offloading world;
  make_ready(world);
  world.create_pod("web");
  world.run_at_milan("web");
  world.to_milan.partition();
  static_cast<void>(world.server.remove(kinds::virtual_nodes, {tenant, "milan"}, {}, "admin"));
  CHECK(world.reaches([&] { return condition_of_node(world, "Ready") == "False"; }));
  CHECK(kube::bool_at(world.find(resources::nodes, {"", "milan"})->tree(), {"spec", "unschedulable"}));
  world.to_milan.heal();
  REQUIRE(world.reaches([&] {
    return world.at_milan(resources::pods, "web")->is_deleting() || !world.at_milan(kinds::shadow_pods, "web");
  }));
}

TEST_CASE("a Node stays Ready while its session is made anew, and is not where the new session does not reach milan") {
  Offloading world;
  make_ready(world);
  const auto renew = [&](std::string_view credentials) {
    world.change(resources::secrets, {tenant, "kubeconfig"}, "", [&](json::object& next) {
      next["data"] = json::object{{"kubeconfig", kube::encode_base64(credentials)}};
    });
  };
  const auto is_unready = [&] { return condition_of_node(world, "Ready") != "True"; };
  renew("new");
  CHECK_FALSE(world.reaches(is_unready));
  world.stop();
  world.start();
  CHECK_FALSE(world.reaches(is_unready));
  world.to_milan.refuse();
  renew("newer");
  CHECK(world.reaches(is_unready, 5s));
}

}  // namespace liqo::testing
