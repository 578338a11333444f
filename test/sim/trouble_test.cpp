// Pods in trouble, with the daemons of both clusters in virtual time: what is known at home, and when; that nothing is
// deleted or run twice because of it; and how it ends.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "trouble_world.hpp"

namespace liqo::sim {
namespace {

using namespace std::chrono_literals;
namespace resources = kube::resources;

const std::string twin = twin_namespace("rome");

/// Acts as the node controller of Kubernetes when a Node is not Ready for longer than a pod tolerates it.
void evict(TroubleWorld& world, std::string_view name) { world.delete_pod(name); }

/// A person removes what is left of a pod on a dead node.
void force_away(TroubleWorld& world, std::string_view name) {
  (void)world.milan.server.remove(resources::pods, {twin, std::string(name)}, {.grace_period_seconds = 0}, "operator");
}

bool is_unavailable(const TroubleWorld& world, std::string_view name) {
  const auto pod = world.local(name);
  return pod && pod->label(api::labels::remote_unavailable) == "true";
}

}  // namespace

TEST_CASE("a silent provider: home says so within 45 seconds, and deletes nothing for hours") {
  TroubleWorld world;
  world.run_pod("web");
  const std::string uid(world.local("web")->uid()), remote(world.remote("web")->uid());
  const auto writes = world.writes_in_milan();
  world.wan().partition();
  REQUIRE(
      world.reaches([&] { return TroubleWorld::condition(world.virtual_node(), "Ready").starts_with("False"); }, 45s));
  REQUIRE(world.reaches(
      [&] { return TroubleWorld::condition(world.local("web"), "Ready") == "False RemoteClusterUnavailable"; }, 5s));
  CHECK(is_unavailable(world, "web"));
  world.pass(6h);
  REQUIRE(world.local("web"));
  CHECK(world.local("web")->uid() == uid);
  CHECK_FALSE(world.local("web")->is_deleting());
  CHECK(world.phase("web") == "Running");
  CHECK(world.remote("web")->uid() == remote);
  CHECK(world.writes_in_milan() == writes);
}

TEST_CASE("a provider that comes back: its pods are as they were, and what has happened meanwhile is told") {
  TroubleWorld world;
  for (std::string_view name : {"web", "gone", "lost"}) world.run_pod(name);
  const std::string uid(world.local("web")->uid()), lost(world.remote("lost")->uid());
  world.wan().partition();
  REQUIRE(world.reaches([&] { return is_unavailable(world, "web"); }, 1min));
  // Meanwhile a pod is deleted at home, and another one is lost in milan.
  world.delete_pod("gone");
  force_away(world, "lost");
  world.pass(20min);
  CHECK(world.local("gone")->is_deleting());
  CHECK(world.shadow("gone").has_value());
  world.wan().heal();
  REQUIRE(
      world.reaches([&] { return TroubleWorld::condition(world.virtual_node(), "Ready").starts_with("True"); }, 1min));
  REQUIRE(world.reaches([&] { return TroubleWorld::condition(world.local("web"), "Ready").starts_with("True"); }, 10s));
  CHECK_FALSE(is_unavailable(world, "web"));
  CHECK(world.local("web")->uid() == uid);
  CHECK(world.runs("web") == 1);
  REQUIRE(world.reaches([&] { return !world.local("gone") && !world.remote("gone") && !world.shadow("gone"); }, 1min));
  CHECK(world.runs("gone") == 1);
  REQUIRE(
      world.reaches([&] { return TroubleWorld::condition(world.local("lost"), "Ready").starts_with("True"); }, 30s));
  CHECK(world.remote("lost")->uid() != lost);
  CHECK(world.runs("lost") == 2);
}

TEST_CASE("from NotReady to eviction: an evicted pod stays until its end is known, and then goes") {
  TroubleWorld world;
  world.run_pod("web");
  world.wan().partition();
  REQUIRE(
      world.reaches([&] { return TroubleWorld::condition(world.virtual_node(), "Ready").starts_with("False"); }, 45s));
  world.pass(300s);
  evict(world, "web");
  world.pass(1h);
  // It is not known whether the pod still runs, so its name is not free.
  REQUIRE(world.local("web"));
  CHECK(world.local("web")->is_deleting());
  CHECK(world.shadow("web").has_value());
  CHECK_FALSE(world.remote("web")->is_deleting());
  world.wan().heal();
  REQUIRE(world.reaches([&] { return !world.shadow("web"); }, 1min));
  REQUIRE(world.reaches([&] { return !world.local("web"); }, 1min));
  // A pod that has ended may stay a moment longer in milan than at home.
  CHECK(world.reaches([&] { return !world.remote("web"); }, 1s));
  CHECK(world.runs("web") == 1);
}

TEST_CASE("a dead node at the provider that lets go by force: the pod runs on another node, and is the same at home") {
  TroubleWorld world(true);
  const auto say = [&](std::string_view status) {
    const json::object ready{{"type", "Ready"}, {"status", status}};
    (void)world.milan.server.update(
        {resources::nodes, {"", std::string(TroubleWorld::dead_node)}, "status"},
        [&](json::object& next) { kube::ensure_object(next, "status")["conditions"] = json::array{ready}; },
        "operator");
  };
  (void)world.milan.server.create(resources::nodes, {{"metadata", json::object{{"name", TroubleWorld::dead_node}}}},
                                  "operator");
  say("True");
  world.worker = TroubleWorld::dead_node;
  world.run_pod("web");
  const std::string uid(world.local("web")->uid());
  world.worker = "worker-1";
  say("Unknown");
  (void)world.milan.server.remove(resources::pods, {twin, "web"}, {}, "node-controller");
  const kube::TimePoint begun = world.now();
  world.pass(25s);
  // The grace period is respected: the node may only be slow.
  CHECK(world.remote("web")->is_deleting());
  REQUIRE(world.reaches([&] { return world.runs("web") == 1; }, 1min));
  CHECK(world.now() - begun >= 30s);
  CHECK(world.now() - begun < 45s);
  REQUIRE(world.reaches([&] { return TroubleWorld::condition(world.local("web"), "Ready").starts_with("True"); }, 30s));
  CHECK(world.local("web")->uid() == uid);
  CHECK(world.events("RemotePodStuck") == 0);
}

TEST_CASE("a remote pod that is Terminating a minute after its grace time costs its place at home, not its name") {
  TroubleWorld world;
  world.worker = TroubleWorld::dead_node;
  world.run_pod("web", 45);
  (void)world.milan.server.remove(resources::pods, {twin, "web"}, {}, "node-controller");
  const kube::TimePoint begun = world.now();
  REQUIRE(world.reaches([&] { return TroubleWorld::condition(world.local("web"), "Ready").starts_with("False"); }, 5s));
  world.pass(100s - (world.now() - begun));
  CHECK_FALSE(world.local("web")->is_deleting());
  REQUIRE(world.reaches([&] { return world.local("web")->is_deleting(); }, 15s));
  CHECK(world.now() - begun >= 105s);
  CHECK(kube::int_at(world.local("web")->metadata(), {"deletionGracePeriodSeconds"}) == 45);
  REQUIRE(world.reaches([&] { return world.events("RemotePodStuck") == 1; }, 5s));
  world.pass(2h);
  REQUIRE(world.local("web"));
  CHECK(world.events("RemotePodStuck") == 1);
  CHECK(world.shadow("web")->is_deleting());
  force_away(world, "web");
  CHECK(world.reaches([&] { return !world.local("web"); }, 10s));
}

TEST_CASE("a twin that is withdrawn: a pod at home is over when its remote pod is, and not before") {
  TroubleWorld world;
  world.worker = TroubleWorld::slow_node;
  world.run_pod("web", 60);
  const std::string uid(world.local("web")->uid());
  // A namespace stays as long as anything is in it.
  const auto hold = [&](bool held) {
    (void)world.milan.server.update(
        {resources::namespaces, {"", twin}},
        [held](json::object& next) {
          next["metadata"].as_object()["finalizers"] = held ? json::array{"example.com/content"} : json::array();
        },
        "namespace-controller");
  };
  hold(true);
  (void)world.rome.server.remove(api::kinds::namespace_offloadings,
                                 {std::string(home_namespace), std::string(api::namespace_offloading_name)}, {},
                                 "operator");
  const auto ns = [&] { return world.milan.server.get(resources::namespaces, {"", twin}); };
  REQUIRE(world.reaches([&] { return is_deleting(*ns()); }, 2min));
  CHECK(world.phase("web") == "Running");
  // The namespace controller of milan deletes both.
  (void)world.milan.server.remove(api::kinds::shadow_pods, {twin, "web"}, {}, "namespace-controller");
  (void)world.milan.server.remove(resources::pods, {twin, "web"}, {}, "namespace-controller");
  const kube::TimePoint begun = world.now();
  bool early = false;
  REQUIRE(world.reaches(
      [&] {
        const bool is_over = is_final(world.phase("web"));
        const auto remote = world.remote("web");
        early = early || (is_over && remote && !is_final(phase_of(remote->tree())));
        return is_over;
      },
      5min));
  CHECK_FALSE(early);
  CHECK(world.now() - begun >= 40s);
  CHECK(world.local("web")->uid() == uid);
  CHECK(world.phase("web") == "Failed");
  CHECK(world.runs("web") == 1);
  REQUIRE(world.reaches([&] { return !world.remote("web"); }, 1min));
  hold(false);
  CHECK(world.reaches([&] { return world.rome.server.list(api::kinds::namespace_offloadings, home_namespace).empty(); },
                      2min));
  CHECK(world.local("web")->uid() == uid);
}

TEST_CASE("a StatefulSet pod that ends slowly is followed by the next of its name after its end") {
  TroubleWorld world;
  world.worker = TroubleWorld::slow_node;
  world.run_pod("db-0", 60);
  const std::string first(world.local("db-0")->uid());
  world.delete_pod("db-0");
  const kube::TimePoint begun = world.now();
  REQUIRE(world.reaches([&] { return !world.local("db-0"); }, 2min));
  CHECK(world.now() - begun >= 40s);
  CHECK_FALSE(world.remote("db-0").has_value());
  world.run_pod("db-0", 60);
  CHECK(world.local("db-0")->uid() != first);
  CHECK(world.runs("db-0") == 2);
  // A pod that is deleted by force frees its name at home at once, but not in milan.
  const std::string second(world.remote("db-0")->uid());
  (void)world.rome.server.remove(resources::pods, {std::string(home_namespace), "db-0"}, {.grace_period_seconds = 0},
                                 "operator");
  world.create_pod("db-0", 60);
  bool doubled = false;
  REQUIRE(world.reaches(
      [&] {
        const auto remote = world.remote("db-0");
        const bool is_next = remote && remote->uid() != second;
        doubled = doubled || (world.runs("db-0") == 3 && !is_next);
        return is_next && world.phase("db-0") == "Running";
      },
      3min));
  CHECK_FALSE(doubled);
}

}  // namespace liqo::sim
