// The end of the pods of a virtual node that is removed.
#include "../offloading_fixture.hpp"

namespace liqo::testing {

using namespace std::chrono_literals;

TEST_CASE("a pod that may not be evicted keeps no other pod on the Node, and says so") {
  Offloading world;
  const auto evictions_of_first = [](const kube::HttpRequest& request) {
    return request.target.contains("/pods/a/eviction") ? std::string("two budgets select the pod") : std::string();
  };
  world.stop();
  world.refuses = evictions_of_first;
  world.start();
  for (const char* name : {"a", "b", "c"}) {
    world.create_pod(name);
    world.run_at_milan(name);
  }
  (void)world.server.remove(kinds::virtual_nodes, {tenant, "milan"}, {}, "operator");
  const auto ends = [&](const char* name) {
    const auto pod = world.local(name);
    return !pod || pod->is_deleting();
  };
  CHECK(world.reaches([&] { return ends("b") && ends("c"); }));
  CHECK_FALSE(ends("a"));
  REQUIRE(world.reaches([&] { return !world.events("EvictionRefused").empty(); }));
  world.pass(1min);
  const auto told = world.events("EvictionRefused");
  CHECK(told.size() == 1);
  CHECK(told[0] ==
        "the API server refuses to end the pod, for which the removal of node milan waits; correct what it names, or "
        "delete the pod: two budgets select the pod");
  CHECK(world.has(resources::nodes, {"", "milan"}));

  world.refuses = [](const kube::HttpRequest&) { return std::string(); };
  CHECK(world.reaches([&] { return ends("a"); }, 10min));
}

TEST_CASE("a full Node is emptied in a few round trips, and not in one for each pod") {
  Offloading world;
  for (int i = 0; i < 40; ++i) world.create_pod("web-" + std::to_string(i));
  std::vector<kube::TimePoint> evictions;
  world.link.on_send([&](const kube::HttpRequest& request) {
    if (request.target.contains("/eviction")) evictions.push_back(world.simulator.clock().now());
  });
  world.link.set_faults({.latency_low = 500ms, .latency_high = 500ms});
  (void)world.server.remove(kinds::virtual_nodes, {tenant, "milan"}, {}, "operator");
  REQUIRE(world.reaches([&] { return evictions.size() >= 40; }, 5min));
  // A round trip takes a second: forty of them, one after the other, would take forty.
  CHECK(evictions[39] - evictions[0] <= 3s);
  // No more than sixteen are under way.
  CHECK(evictions[16] - evictions[0] >= 500ms);
}

}  // namespace liqo::testing
