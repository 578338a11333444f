// A namespace is withdrawn, or its twin gets into trouble, while liqod is down: the pods that the next process finds.
#include "../offloading_fixture.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

/// Rome's liqod ends after it has sent the pod "web" and before it has written its status. Then the namespace is
/// withdrawn, and milan has not removed the twin yet.
struct Withdrawn : Offloading {
  explicit Withdrawn(bool placed) {
    create_pod("web");
    REQUIRE(reaches([&] { return at_milan(kinds::shadow_pods, "web").has_value(); }));
    if (placed) {
      kube::Object remote = core::forge_provider_pod(*at_milan(kinds::shadow_pods, "web"));
      remote.mutable_spec()["nodeName"] = "worker";
      REQUIRE(milan.create(resources::pods, remote.tree(), "milan").has_value());
    }
    pass(1s);
    REQUIRE_FALSE(local("web")->has_annotation(api::annotations::remote_pod_uid));
    stop();
    if (!placed) (void)milan.remove(kinds::shadow_pods, {twin, "web"}, {}, "milan");
    (void)server.remove(kinds::namespace_offloadings, {shop, "offloading"}, {}, "operator");
    change(kinds::namespace_maps, {tenant, "milan"}, "",
           [](json::object& next) { next["spec"].as_object()["desiredMapping"] = json::object(); });
    map_twin("Terminating");
    start();
  }
  std::uint64_t gets() { return to_milan.requests(); }
};

/// The pod "web" runs in a twin that milan fails to serve when rome's liqod begins.
struct Troubled : Offloading {
  explicit Troubled(bool told) {
    create_pod("web");
    if (told) {
      run_at_milan("web");
    } else {
      make_at_milan("web");
      pass(1s);
    }
    REQUIRE(local("web")->has_annotation(api::annotations::remote_pod_uid) == told);
    stop();
    map_twin("CreationLoopBackOff");
  }
  void remove_at_milan() {
    (void)milan.remove(kinds::shadow_pods, {twin, "web"}, {}, "milan");
    (void)milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "milan");
  }
};

}  // namespace

TEST_CASE("a pod in a twin that is in trouble is waited for when it is deleted") {
  for (const bool told : {true, false}) {
    CAPTURE(told);
    Troubled world(told);
    world.start();
    world.pass(10s);
    (void)world.server.remove(resources::pods, {shop, "web"}, {}, "operator");
    world.pass(5min);
    REQUIRE(world.local("web"));
    CHECK(world.local("web")->is_deleting());
    world.remove_at_milan();
    CHECK(world.reaches([&] { return !world.local("web"); }, 10s));
  }
}

TEST_CASE("a pod in a twin that is in trouble is waited for where the twin may not be read") {
  Troubled world(false);
  bool is_refused = true;
  world.refuse = [&](const kube::HttpRequest& request) {
    const bool is_in_twin = request.target.find("/namespaces/" + twin + "/") != std::string::npos;
    return is_refused && is_in_twin ? std::string("no binding") : std::string();
  };
  (void)world.server.remove(resources::pods, {shop, "web"}, {}, "operator");
  world.start();
  world.pass(2min);
  REQUIRE(world.local("web"));
  is_refused = false;
  world.remove_at_milan();
  CHECK(world.reaches([&] { return !world.local("web"); }, 1min));
}

TEST_CASE("a pod that runs in a twin in trouble goes on once the trouble is over") {
  Troubled world(true);
  world.start();
  world.pass(5min);
  CHECK(kube::string_at(world.local("web")->status(), {"phase"}) == "Running");
  world.map_twin("Accepted");
  world.pass(1min);
  CHECK(kube::string_at(world.local("web")->status(), {"phase"}) == "Running");
  CHECK(world.at_milan(kinds::shadow_pods, "web").has_value());
  world.create_pod("next");
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "next").has_value(); }));
}

TEST_CASE("a pod that was placed in the last moments before is waited for") {
  Withdrawn world(true);
  (void)world.server.remove(resources::pods, {shop, "web"}, {}, "operator");
  world.pass(5min);
  REQUIRE(world.local("web"));
  CHECK(world.local("web")->is_deleting());
  CHECK(world.condition("web", api::offloaded_condition, "reason") == "(none)");
  (void)world.milan.remove(kinds::shadow_pods, {twin, "web"}, {}, "milan");
  (void)world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "milan");
  CHECK(world.reaches([&] { return !world.local("web"); }, 10s));
}

TEST_CASE("a pod that came later waits for no provider that does not answer") {
  Withdrawn world(true);
  world.pass(2min);
  world.to_milan.partition();
  world.create_pod("late");
  REQUIRE(world.reaches(
      [&] { return kube::string_at(world.local("late")->status(), {"reason"}) == "OffloadingBackOff"; }, 30s));
  (void)world.server.remove(resources::pods, {shop, "late"}, {}, "operator");
  CHECK(world.reaches([&] { return !world.local("late"); }, 30s));
}

TEST_CASE("a pod of which nothing is left is not, and is asked about once") {
  Withdrawn world(false);
  REQUIRE(world.reaches(
      [&] { return kube::string_at(world.local("web")->status(), {"reason"}) == "OffloadingBackOff"; }, 10s));
  world.pass(1s);
  const auto asked = world.gets();
  for (int i = 0; i < 10; ++i) {
    world.change(resources::pods, {shop, "web"}, "", [&](json::object& next) {
      kube::ensure_object(next["metadata"].as_object(), "labels")["edit"] = std::to_string(i);
    });
    world.pass(100ms);
  }
  CHECK(world.gets() == asked);
  (void)world.server.remove(resources::pods, {shop, "web"}, {}, "operator");
  CHECK(world.reaches([&] { return !world.local("web"); }, 10s));
}

}  // namespace liqo::testing
