// How the pods of a virtual node end that is removed.
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

}  // namespace liqo::testing
