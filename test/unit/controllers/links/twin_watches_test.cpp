// Twins without anything of ours: they are not watched, and cause hardly any requests.
#include "controllers/links/twin_watches.hpp"

#include <algorithm>

#include "../offloading_fixture.hpp"
#include "kube/testing/one_cluster.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

struct Resting : Offloading {
  Resting() {
    milan.serve(kinds::shadow_endpoint_slices);
    // Every namespace has it.
    kube::Object root_ca = kube::Object::make(resources::config_maps, {shop, "kube-root-ca.crt"});
    root_ca.tree()["data"] = json::object{{"ca.crt", "rome"}};
    apply(resources::config_maps, root_ca);
    outage = [this](kube::HttpRequest& request) {
      if (request.target.contains("/namespaces/" + twin + "/")) ++asked;
      return false;
    };
    REQUIRE(reaches([&] { return rests(); }));
  }
  /// Its caches are gone, and with them their metrics.
  bool rests() const { return !metrics().contains("kube_informer_objects{cluster=\"milan\",resource=\"pods\"}"); }
  std::string copy() {
    const auto copied = milan.get(resources::config_maps, {twin, "kube-root-ca.crt.rome"});
    return copied ? std::string(kube::string_at(*copied, {"data", "ca.crt"})) : "";
  }
  void spoil_copy() {
    REQUIRE(milan.update(
        {resources::config_maps, {twin, "kube-root-ca.crt.rome"}},
        [](json::object& next) { next["data"] = json::object{{"ca.crt", "no"}}; }, "milan"));
  }
  /// An order of another process of ours, for a pod that is gone.
  void order_for_nobody(std::string_view name) {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, {twin, std::string(name)});
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::reflection_destination, "milan");
    shadow.set_label(api::labels::node_name, "milan");
    shadow.set_annotation(api::annotations::local_pod_uid, "gone");
    REQUIRE(milan.create(kinds::shadow_pods, shadow.tree(), "rome").has_value());
  }

  int asked = 0;  ///< requests for objects in the twin
};

}  // namespace

TEST_CASE("a twin without pods is not watched, hardly asked about, and ready when a pod comes") {
  Resting world;
  REQUIRE(world.reaches([&] { return world.copy() == "rome"; }));
  // It is read once more, for requests that an earlier process may have sent.
  world.pass(5min);
  CHECK(world.rests());
  const int before = world.asked;
  world.pass(1h);
  CHECK(world.rests());
  // Its ConfigMaps, every three to six minutes.
  CHECK(world.asked - before <= 20);

  world.create_pod("web");
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 1s));
  world.run_at_milan("web");
  world.spoil_copy();
  CHECK(world.reaches([&] { return world.copy() == "rome"; }, 30s));
  const int with_pod = world.asked;
  world.pass(1h);
  CHECK_FALSE(world.rests());
  // Its ConfigMaps alone: no Event is about what every namespace has. Its two watches are opened again.
  CHECK(world.asked - with_pod <= 60 * 60 / 17 + 2 * 12);

  (void)world.server.remove(resources::pods, {shop, "web"}, {}, "operator");
  REQUIRE(world.reaches([&] { return !world.at_milan(kinds::shadow_pods, "web"); }));
  (void)world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "milan");
  REQUIRE(world.reaches([&] { return !world.local("web"); }));
  CHECK(world.reaches([&] { return world.rests(); }, 3min));
}

TEST_CASE("what uses a twin without pods has its copies looked at as often as any") {
  Resting world;
  REQUIRE(world.reaches([&] { return world.copy() == "rome"; }));
  world.pass(30min);
  // Another user's workload in milan may use it.
  kube::Object words = kube::Object::make(resources::config_maps, {shop, "words"});
  words.tree()["data"] = json::object{{"key", "ciao"}};
  world.apply(resources::config_maps, words);
  REQUIRE(world.reaches([&] { return world.at_milan(resources::config_maps, "words").has_value(); }, 5s));
  for (int i = 0; i < 5; ++i) {
    world.spoil_copy();
    CHECK(world.reaches([&] { return world.copy() == "rome"; }, 30s));
  }
  CHECK(world.rests());
}

TEST_CASE("a copy that every namespace has is right again within 6 minutes where nothing uses it") {
  Resting world;
  world.pass(30min);
  world.spoil_copy();
  CHECK(world.reaches([&] { return world.copy() == "rome"; }, 6min));
}

TEST_CASE("what an earlier process has ordered late, in a twin that rests, is taken back") {
  Resting world;
  world.pass(60s);
  world.order_for_nobody("late");
  CHECK(world.reaches([&] { return !world.at_milan(kinds::shadow_pods, "late"); }, 60s));
  CHECK(world.reaches([&] { return world.rests(); }, 3min));
}

TEST_CASE("many twins are read one after the other without a pause, once they may be, and rest") {
  kube::testing::OneCluster milan({.name = "milan", .actor = "rome", .random = 1});
  milan.server.serve(kinds::shadow_pods);
  bool may_begin = false;
  controllers::TwinWatches twins(milan.simulator.executor(), milan.simulator.clock(), milan.informers,
                                 [&] { return may_begin; });
  milan.group.spawn(milan.informers.run());
  milan.group.spawn(twins.run());

  std::vector<std::shared_ptr<controllers::TwinWatch>> watches;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "ns-" + std::to_string(i);
    watches.push_back(twins.watch(name, name + "-rome"));
  }
  CHECK(milan.simulator.run_for(5s) == kube::testing::Simulator::End::reached);
  CHECK(milan.link.requests() == 0);
  may_begin = true;
  // Each is as fast as the provider answers.
  const auto all_rest = [&] {
    return std::ranges::all_of(watches, [](const auto& watch) { return watch->is_resting; });
  };
  CHECK(milan.reaches(all_rest, 2s));
  CHECK_FALSE(twins.is_used("ns-0", "ns-0-rome"));
  twins.wake(*watches.front());
  CHECK(twins.is_used("ns-0", "ns-0-rome"));
  watches.clear();
  milan.stop();
}

TEST_CASE("who leads next looks into the twins that rest") {
  Resting world;
  world.pass(10min);
  world.stop();
  world.order_for_nobody("left");
  world.start();
  CHECK(world.reaches([&] { return !world.at_milan(kinds::shadow_pods, "left"); }));
}

TEST_CASE("a twin that rests is left when its namespace is withdrawn, and watched again when it is back") {
  Resting world;
  const auto ask = [&](json::object mapping) {
    world.change(kinds::namespace_maps, {tenant, "milan"}, "",
                 [&](json::object& next) { next["spec"].as_object()["desiredMapping"] = mapping; });
  };
  world.pass(10min);
  ask({});
  world.map_twin("Terminating");
  world.pass(1min);
  CHECK(world.rests());
  world.map_twin("");
  world.pass(1min);
  ask({{shop, twin}});
  world.map_twin("Accepted");
  world.create_pod("web");
  world.run_at_milan("web");
}

}  // namespace liqo::testing
