// A pod is deleted at home with another grace period than its own: the actions and writes of each side.
#include "core/offloading/ending.hpp"

#include <algorithm>

#include "../offloading_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

/// Consumer rome with one pod that runs in milan. The test decides whether any liqod reads ShadowPods there.
struct Running : Offloading {
  explicit Running(std::int64_t own) : collector_of_milan(simulator, milan) {
    create_pod("web", "1", own);
    run_at_milan("web");
  }

  /// As kubectl does; nothing = without --grace-period.
  void delete_at_home(std::optional<std::int64_t> grace) {
    (void)server.remove(resources::pods, {shop, "web"}, {.grace_period_seconds = grace}, "operator");
  }
  std::string said() {
    const auto shadow = at_milan(kinds::shadow_pods, "web");
    return shadow ? std::string(shadow->annotation(api::annotations::ending_grace)) : "(no ShadowPod)";
  }
  /// Rome's writes to the ShadowPod since it was made, e.g. "PATCH DELETE ". A DELETE may come twice if something else
  /// enqueues the pod before its event does.
  std::string words() {
    std::string text;
    for (const auto& write : milan.writes())
      if (write.plural == "shadowpods" && write.actor == "rome" && write.method != "POST" &&
          !text.ends_with(write.method + " "))
        text += write.method + " ";
    return text;
  }

  kube::testing::FakeGarbageCollector collector_of_milan;
};

/// Provider milan with one ShadowPod of rome, which runs.
struct Provider : ClusterFixture {
  Provider() : ClusterFixture("milan") {
    controllers::Settings settings;
    settings.offloading.enforce_resources = false;
    start(std::move(settings));
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, key);
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::reflection_destination, "milan");
    shadow.mutable_spec()["pod"] =
        json::object{{"terminationGracePeriodSeconds", 600},
                     {"nodeName", "worker"},
                     {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    apply(kinds::shadow_pods, shadow);
    REQUIRE(reaches([&] { return has(resources::pods, key); }));
  }
  ~Provider() { stop(); }

  void say(std::string_view seconds) {
    change(kinds::shadow_pods, key, "", [&](json::object& next) {
      kube::ensure_object(next["metadata"].as_object(), "annotations")[api::annotations::ending_grace] = seconds;
    });
  }
  std::int64_t grace() {
    const auto pod = find(resources::pods, key);
    return pod ? kube::int_at(pod->metadata(), {"deletionGracePeriodSeconds"}, -1) : -2;
  }
  const kube::ObjectKey key{twin, "web"};
};

}  // namespace

TEST_CASE("a pod that is deleted in its own time costs one write") {
  Running world(30);
  world.delete_at_home({});
  REQUIRE(world.reaches([&] { return world.said() == "(no ShadowPod)"; }));
  CHECK(world.words() == "DELETE ");
}

TEST_CASE("a pod that has ended is removed at home once, whatever else is told of it until that is seen") {
  Running world(30);
  world.reads = [&](kube::HttpRequest& request) {
    // While its removal is under way, an object of its name is created and removed at the provider.
    if (request.method != "DELETE" || !request.target.contains("/pods/web")) return;
    kube::Object other = kube::Object::make(resources::pods, {twin, "web"});
    other.mutable_spec()["containers"] = json::array{json::object{{"name", "main"}, {"image", "other:1"}}};
    (void)world.milan.create(resources::pods, other.tree(), "milan");
    (void)world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "milan");
  };
  world.stop();
  world.start();
  world.delete_at_home({});
  REQUIRE(world.reaches([&] { return world.said() == "(no ShadowPod)"; }));
  (void)world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "kubelet");
  REQUIRE(world.reaches([&] { return !world.local("web"); }));
  world.pass(1min);
  CHECK(std::ranges::count_if(world.server.writes(), [&](const auto& write) {
          return write.actor == world.link.actor() && write.method == "DELETE" && write.plural == "pods";
        }) == 1);
}

TEST_CASE("the provider is told the time, and the ShadowPod goes when the end has begun") {
  Running world(600);
  world.delete_at_home(1);
  REQUIRE(world.reaches([&] { return world.said() == "1"; }));
  CHECK(world.words() == "PATCH ");
  (void)world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 1}, "milan");
  REQUIRE(world.reaches([&] { return world.said() == "(no ShadowPod)"; }, 1s));
  CHECK(world.words() == "PATCH DELETE ");
}

TEST_CASE("a provider that reads nothing is waited for only so long, and not told again") {
  Running world(40);
  world.delete_at_home(5);
  const kube::TimePoint begun = world.simulator.clock().now();
  const auto ending = [&] {
    const auto pod = world.at_milan(resources::pods, "web");
    return pod && pod->is_deleting();
  };
  REQUIRE(world.reaches(ending));
  CHECK(world.simulator.clock().now() - begun < core::grace_patience + 2s);
  world.pass(30s);
  CHECK(world.words() == "PATCH DELETE ");
  CHECK(world.said() == "5");
  (void)world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "kubelet");
  REQUIRE(world.reaches([&] { return !world.local("web"); }));
  CHECK(world.said() == "(no ShadowPod)");
}

TEST_CASE("a provider that cannot be told keeps no pod from its end") {
  Running world(600);
  world.outage = [](kube::HttpRequest& request) { return request.verb == "patch"; };
  world.delete_at_home(1);
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web")->is_deleting(); }, 20s));
  CHECK(world.said().empty());
}

TEST_CASE("a provider that keeps nothing of it is told once") {
  Running world(600);
  int told = 0;
  world.outage = [&](kube::HttpRequest& request) {
    if (request.verb != "patch" || request.resource != "shadowpods") return false;
    request.body = "{}";
    ++told;
    return false;
  };
  world.delete_at_home(1);
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web")->is_deleting(); }, 1s));
  CHECK(told == 1);
}

TEST_CASE("what has long to end can be told to hurry") {
  Running world(600);
  world.delete_at_home({});
  REQUIRE(world.reaches([&] {
    const auto pod = world.at_milan(resources::pods, "web");
    return pod && pod->is_deleting();
  }));
  CHECK(world.said().empty());
  world.pass(1min);
  CHECK(world.words() == "DELETE ");
  world.delete_at_home(2);
  REQUIRE(world.reaches([&] { return world.said() == "2"; }, 2s));
  world.pass(1min);
  CHECK(world.words() == "DELETE PATCH ");
}

TEST_CASE("the provider ends a pod as its ShadowPod says, and makes no other") {
  Provider milan;
  milan.say("20");
  REQUIRE(milan.reaches([&] { return milan.grace() == 20; }, 1s));
  milan.say("5");
  REQUIRE(milan.reaches([&] { return milan.grace() == 5; }, 1s));
  milan.say("60");
  milan.pass(1min);
  CHECK(milan.grace() == 5);
  (void)milan.server.remove(resources::pods, milan.key, {.grace_period_seconds = 0}, "kubelet");
  milan.pass(5min);
  CHECK(milan.grace() == -2);
  CHECK(milan.has(kinds::shadow_pods, milan.key));
}

}  // namespace liqo::testing
