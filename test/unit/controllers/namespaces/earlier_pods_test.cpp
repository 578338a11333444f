// A namespace is extended that has pods already; no webhook of this server changes new ones.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

struct Home : ClusterFixture {
  Home() : ClusterFixture("rome") {
    apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", "shop"}));
    refuses = [this](const kube::HttpRequest& request) -> std::string {
      if (!loses_answer || request.verb != "patch" || request.resource != "namespaces") return "";
      loses_answer = false;
      change(resources::namespaces, {"", "shop"}, "",
             [](json::object& next) { kube::testing::set_label(next, api::labels::scheduling_enabled, "true"); });
      return "the answer was lost";
    };
    start();
  }
  ~Home() { stop(); }

  void pod(std::string_view name, std::string_view node = "") {
    kube::Object made = kube::Object::make(resources::pods, {"shop", std::string(name)});
    made.mutable_spec()["containers"] = json::array{json::object{{"name", "main"}, {"image", "shop:1"}}};
    if (!node.empty()) made.mutable_spec()["nodeName"] = node;
    apply(resources::pods, made);
  }
  void extend(std::string_view strategy) {
    kube::Object offloading = kube::Object::make(kinds::namespace_offloadings, {"shop", "offloading"});
    offloading.mutable_spec()["podOffloadingStrategy"] = strategy;
    apply(kinds::namespace_offloadings, offloading);
    REQUIRE(reaches(
        [&] { return find(resources::namespaces, {"", "shop"})->label(api::labels::scheduling_enabled) == "true"; }));
  }
  bool tolerates(std::string_view name) {
    const auto found = find(resources::pods, {"shop", std::string(name)});
    for (const json::value& toleration : kube::array_at(found->spec(), {"tolerations"}))
      if (kube::string_at(toleration, {"key"}) == api::virtual_node_taint) return true;
    return false;
  }
  std::vector<std::string> told() { return events("PodsBeforeOffloading"); }

  bool loses_answer = false;  ///< the label of the namespace is written, and the answer says that it is not
};

}  // namespace

TEST_CASE("pods that wait for a node may use the virtual ones, too") {
  Home world;
  for (int i = 0; i < 1100; ++i) world.pod("early-" + std::to_string(i));
  world.pod("placed", "worker");
  world.extend("LocalAndRemote");
  // The API server has not seen the label yet.
  world.pod("late");
  world.pass(10s);
  for (int i = 0; i < 1100; i += 50) CHECK(world.tolerates("early-" + std::to_string(i)));
  CHECK(world.tolerates("early-1099"));
  CHECK(world.tolerates("late"));
  CHECK_FALSE(world.tolerates("placed"));
  CHECK(world.told().empty());
  const auto writes = world.writes();
  world.pass(1h);
  CHECK(world.writes() - writes < 10);
}

TEST_CASE("earlier pods are seen to where the answer to the label of their namespace was lost") {
  Home world;
  world.pod("early");
  world.loses_answer = true;
  world.extend("LocalAndRemote");
  CHECK_FALSE(world.loses_answer);
  CHECK(world.reaches([&] { return world.tolerates("early"); }));
}

TEST_CASE("pods that Kubernetes lets nobody move are counted, once") {
  Home world;
  world.pod("waits");
  world.pod("placed", "worker");
  world.extend("Remote");
  world.pod("late");
  world.pass(10min);
  REQUIRE(world.told().size() == 1);
  CHECK(world.told()[0].contains(": 1 have a node already, where they stay; 2 wait for a node"));
  CHECK_FALSE(world.tolerates("waits"));
}

}  // namespace liqo::testing
