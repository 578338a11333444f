// The label on offloaded pods whose state is not known at home.
#include <doctest/doctest.h>

#include "../offloading_fixture.hpp"

namespace liqo::testing {

using namespace std::chrono_literals;

TEST_CASE("pods of a virtual node are marked while it is not Ready, and pods of other nodes are left alone") {
  Offloading world;
  world.change(kinds::virtual_nodes, {tenant, "milan"}, "", [](json::object& next) {
    next["spec"].as_object()["resourceQuota"] = json::object{{"hard", json::object{{"cpu", "8"}, {"memory", "8Gi"}}}};
  });
  const auto is_marked = [&](std::string_view name) {
    return world.local(name)->label(api::labels::remote_unavailable) == "true";
  };
  world.create_pod("web");
  world.run_at_milan("web");
  world.create_pod("other", "1", 30, "worker");
  world.pass(1min);
  CHECK_FALSE(is_marked("web"));
  world.to_milan.partition();
  CHECK(world.reaches([&] { return is_marked("web"); }));
  // One that is offloaded meanwhile.
  kube::Object late = world.create_pod("late");
  late.set_label(api::labels::local_pod, "true");
  world.apply(resources::pods, late);
  CHECK(world.reaches([&] { return is_marked("late"); }));
  CHECK_FALSE(is_marked("other"));
  world.to_milan.heal();
  CHECK(world.reaches([&] { return !is_marked("web") && !is_marked("late"); }, 2min));
}

}  // namespace liqo::testing
