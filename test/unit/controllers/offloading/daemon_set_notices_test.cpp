// It is reported that pods of a DaemonSet run on virtual nodes.
#include <doctest/doctest.h>

#include "../offloading_fixture.hpp"
#include "core/offloading/daemon_sets.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
constexpr std::string_view reason = "DaemonSetElsewhere";

/// A pod for the virtual node that a DaemonSet has made; `set`: "" = it has no owner.
void create_agent(Offloading& world, std::string_view name, std::string_view set) {
  kube::Object pod = kube::Object::make(resources::pods, {shop, std::string(name)});
  if (!set.empty()) {
    if (!world.server.serves(core::daemon_sets)) world.server.serve(core::daemon_sets);
    const kube::Object owner =
        world.apply(core::daemon_sets, kube::Object::make(core::daemon_sets, {shop, std::string(set)}));
    pod.mutable_metadata()["ownerReferences"] = json::array{json::object{
        {"apiVersion", "apps/v1"}, {"kind", "DaemonSet"}, {"name", set}, {"uid", owner.uid()}, {"controller", true}}};
  }
  pod.mutable_spec() = json::object{{"nodeName", "milan"},
                                    {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
  world.apply(resources::pods, pod);
}

}  // namespace

TEST_CASE("that a DaemonSet has pods on virtual nodes is told once, on the DaemonSet, also if they are refused") {
  Offloading world;
  create_agent(world, "web", "");
  world.run_at_milan("web");
  CHECK(world.events(reason).empty());
  SUBCASE("they run") {}
  SUBCASE("they are refused") {
    world.admit = [] { return std::string("spec.volumes[0].hostPath mounts the file system of the node"); };
  }
  create_agent(world, "agent-1", "agent");
  REQUIRE(world.reaches([&] { return !world.events(reason).empty(); }));
  create_agent(world, "agent-2", "agent");
  world.pass(10min);
  CHECK(world.times_reported(reason) == 1);
  CHECK(world.events(reason).front() ==
        "this DaemonSet has one pod on each virtual node, not on each node of the other cluster, and it books room "
        "there: if that is not meant, keep it off by node affinity liqo.io/type NotIn [virtual-node] (liqoctl exclude "
        "daemonsets shop/agent)");
  for (const auto& event : world.server.list(resources::events))
    if (kube::string_at(*event, {"reason"}) == reason) {
      CHECK(kube::string_at(*event, {"involvedObject", "kind"}) == "DaemonSet");
      CHECK(kube::string_at(*event, {"involvedObject", "uid"}) ==
            world.find(core::daemon_sets, {shop, "agent"})->uid());
    }
  create_agent(world, "other-1", "other");
  CHECK(world.reaches([&] { return world.events(reason).size() == 2; }));
}

TEST_CASE("DaemonSets of a namespace with the strategy Remote are meant to be there") {
  Offloading world;
  world.change(kinds::namespace_offloadings, {shop, "offloading"}, "",
               [](json::object& next) { kube::ensure_object(next, "spec")["podOffloadingStrategy"] = "Remote"; });
  world.pass(5s);
  create_agent(world, "agent-1", "agent");
  world.run_at_milan("agent-1");
  world.pass(1min);
  CHECK(world.events(reason).empty());
}

}  // namespace liqo::testing
