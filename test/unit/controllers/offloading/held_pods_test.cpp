// Pods at home on which others have finalizers, as the Job controller has: how they end before they are removed.
#include <doctest/doctest.h>

#include "../offloading_fixture.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view tracking = "batch.kubernetes.io/job-tracking";

/// A pod of a Job is at home and ordered at milan.
struct Held : Offloading {
  explicit Held(std::string_view milan_says = "") {
    // Before this the twin may have pods of another process, and everything is read twice.
    admit = [says = std::string(milan_says)] { return says; };
    create("job");
    REQUIRE(reaches([&] {
      return milan_says.empty() ? at_milan(kinds::shadow_pods, "job").has_value()
                                : condition("job", api::offloaded_condition, "reason") == "OffloadingRefused";
    }));
  }

  void create(std::string_view name, std::int64_t grace = 30) {
    kube::Object pod = kube::Object::make(resources::pods, {shop, std::string(name)});
    pod.mutable_metadata()["finalizers"] = json::array{json::string(tracking)};
    pod.mutable_spec() = json::object{{"nodeName", "milan"},
                                      {"restartPolicy", "Never"},
                                      {"terminationGracePeriodSeconds", grace},
                                      {"containers", json::array{json::object{{"name", "main"}, {"image", "job:1"}}}}};
    apply(resources::pods, pod);
  }
  void delete_at_home(std::string_view name = "job") {
    (void)server.remove(resources::pods, {shop, std::string(name)}, {}, "operator");
  }
  void say_at_milan(std::string_view phase, json::object state) {
    change_at_milan("job", "status", [&](json::object& next) {
      json::object& status = kube::ensure_object(next, "status");
      status["phase"] = phase;
      status["containerStatuses"] =
          json::array{json::object{{"name", "main"}, {"restartCount", 0}, {"state", std::move(state)}}};
    });
  }
  void run() {
    run_at_milan("job");
    say_at_milan("Running", {{"running", json::object{{"startedAt", "2026-01-01T00:00:00Z"}}}});
    REQUIRE(reaches([&] { return !kube::array_at(local("job")->status(), {"containerStatuses"}).empty(); }));
  }
  /// Its node has ended it, and the provider's liqod releases it.
  void remove_at_milan() {
    (void)milan.remove(resources::pods, {twin, "job"}, {.grace_period_seconds = 0}, "kubelet");
    if (!at_milan(resources::pods, "job")) return;
    change_at_milan("job", "", [](json::object& next) { next["metadata"].as_object()["finalizers"] = json::array(); });
  }
  /// As the Job controller does when it has counted the pod.
  void let_go() {
    change(resources::pods, {shop, "job"}, "",
           [](json::object& next) { next["metadata"].as_object()["finalizers"] = json::array(); });
  }
  bool is_removed() {
    const auto pod = local("job");
    return pod && pod->is_deleting() && kube::int_at(pod->metadata(), {"deletionGracePeriodSeconds"}, -1) == 0;
  }
  /// How it ended: its phase, the exit code of its container, and whether it counts as disrupted.
  std::string end() {
    const auto pod = local("job");
    if (!pod) return "(gone)";
    std::string text(kube::string_at(pod->status(), {"phase"}));
    for (const json::value& status : kube::array_at(pod->status(), {"containerStatuses"}))
      text += kube::find(status, {"state", "terminated"})
                  ? " " + std::to_string(kube::int_at(status, {"state", "terminated", "exitCode"}))
                  : " -";
    return text + (condition("job", "DisruptionTarget", "status") == "True" ? " disrupted" : "");
  }
  /// Liqod's writes to pods at home since then, by method.
  std::string written(std::size_t since) {
    std::string text;
    for (std::size_t i = since; i < server.writes().size(); ++i) {
      const auto& write = server.writes()[i];
      if (write.actor != link.actor() || write.plural != "pods") continue;
      if (!text.empty()) text += " ";
      text += write.method + (write.subresource.empty() ? "" : "/" + write.subresource);
      if (write.code >= 300) text += ":" + std::to_string(write.code);
    }
    return text;
  }
};

}  // namespace

TEST_CASE("a pod that waits for room has failed before it is removed, and is then left to those who hold it") {
  Held world("the quota is used up");
  world.delete_at_home();
  REQUIRE(world.reaches([&] { return world.is_removed(); }, 10s));
  CHECK(world.end() == "Failed disrupted");
  CHECK(kube::string_at(world.local("job")->status(), {"reason"}) == "OffloadingAborted");
  world.pass(1s);
  const std::size_t before = world.server.writes().size();
  // Whatever happens to it while it is held, it is not removed again.
  world.change(resources::pods, {shop, "job"}, "",
               [](json::object& next) { kube::ensure_object(next["metadata"].as_object(), "labels")["a"] = "b"; });
  world.pass(5min);
  CHECK(world.written(before) == "");
  world.let_go();
  CHECK(world.end() == "(gone)");
}

TEST_CASE("so has one whose namespace has no twin") {
  Held world;
  world.map_twin("");
  world.pass(1s);
  world.create("lone");
  REQUIRE(
      world.reaches([&] { return kube::string_at(world.local("lone")->status(), {"reason"}) == "OffloadingBackOff"; }));
  world.delete_at_home("lone");
  REQUIRE(world.reaches(
      [&] { return kube::int_at(world.local("lone")->metadata(), {"deletionGracePeriodSeconds"}, -1) == 0; }, 10s));
  CHECK(kube::string_at(world.local("lone")->status(), {"phase"}) == "Failed");
  CHECK(world.condition("lone", "DisruptionTarget", "status") == "True");
}

TEST_CASE("a pod that nobody else holds is removed without a word") {
  Held world("the quota is used up");
  world.let_go();
  world.pass(1s);
  const std::size_t before = world.server.writes().size();
  world.delete_at_home();
  REQUIRE(world.reaches([&] { return !world.local("job"); }, 10s));
  CHECK(world.written(before) == "DELETE");
}

TEST_CASE("a pod whose remote pod never had a node has not run") {
  Held world;
  kube::Object remote = core::forge_provider_pod(*world.at_milan(kinds::shadow_pods, "job"));
  REQUIRE(world.milan.create(resources::pods, remote.tree(), "milan").has_value());
  REQUIRE(world.reaches([&] { return world.local("job")->has_annotation(api::annotations::remote_pod_uid); }));
  world.delete_at_home();
  REQUIRE(world.reaches([&] { return !world.at_milan(kinds::shadow_pods, "job"); }));
  world.remove_at_milan();
  REQUIRE(world.reaches([&] { return world.is_removed(); }, 10s));
  CHECK(world.end() == "Failed disrupted");
}

TEST_CASE("a pod whose end nobody has seen ends as kubelets say it") {
  Held world;
  world.run();
  world.delete_at_home();
  REQUIRE(world.reaches([&] { return !world.at_milan(kinds::shadow_pods, "job"); }));
  world.remove_at_milan();
  REQUIRE(world.reaches([&] { return world.is_removed(); }, 10s));
  CHECK(world.end() == "Failed 137 disrupted");
  const auto job = world.local("job");
  const json::value& status = kube::array_at(job->status(), {"containerStatuses"})[0];
  CHECK(kube::string_at(status, {"state", "terminated", "reason"}) == "ContainerStatusUnknown");
}

TEST_CASE("one that runs where home was told of nothing may have run") {
  Held world;
  world.make_at_milan("job");
  world.pass(2s);
  REQUIRE(world.local("job")->annotation(api::annotations::remote_pod_uid) == "");
  world.delete_at_home();
  REQUIRE(world.reaches([&] { return !world.at_milan(kinds::shadow_pods, "job"); }));
  world.remove_at_milan();
  REQUIRE(world.reaches([&] { return world.is_removed(); }, 10s));
  CHECK(world.end() == "Failed 137 disrupted");
}

TEST_CASE("an end that comes together with the removal of the remote pod comes home") {
  Held world;
  world.run();
  const char* phase = "Succeeded";
  int code = 0;
  std::string message, expected = "Succeeded 0";
  SUBCASE("well") {}
  SUBCASE("badly") {
    phase = "Failed";
    code = 3;
    expected = "Failed 3";
  }
  SUBCASE("of a pod that is too long to be remembered") {
    message = std::string(1 << 16, 'x');
    expected = "Failed 137 disrupted";
  }
  // While the order is being deleted, the pod ends and goes: no worker sees it in between.
  world.outage = [&](kube::HttpRequest& request) {
    if (request.verb != "delete" || request.resource != "shadowpods") return false;
    (void)world.milan.remove(resources::pods, {twin, "job"}, {}, "milan");
    world.say_at_milan(phase, {{"terminated", json::object{{"exitCode", code}}}});
    if (!message.empty())
      world.change_at_milan("job", "status", [&](json::object& next) { next["status"].as_object()["note"] = message; });
    world.remove_at_milan();
    return false;
  };
  world.delete_at_home();
  REQUIRE(world.reaches([&] { return world.is_removed(); }, 10s));
  CHECK(world.end() == expected);
}

TEST_CASE("a status that comes too late is written again, and no removal overtakes it") {
  Held world;
  world.run();
  int left = 3;
  world.reads = [&](kube::HttpRequest& request) {
    if (request.method != "PATCH" || !request.target.contains("/pods/job/status") || left-- <= 0) return;
    world.change(resources::pods, {shop, "job"}, "", [&](json::object& next) {
      kube::ensure_object(next["metadata"].as_object(), "labels")["edit"] = std::to_string(left);
    });
  };
  world.stop();
  world.start();
  world.pass(5s);
  left = 3;
  const std::size_t before = world.server.writes().size();
  world.delete_at_home();
  REQUIRE(world.reaches([&] { return !world.at_milan(kinds::shadow_pods, "job"); }));
  world.remove_at_milan();
  REQUIRE(world.reaches([&] { return world.is_removed(); }, 10s));
  CHECK(world.end() == "Failed 137 disrupted");
  CHECK(world.written(before).ends_with("PATCH/status:409 PATCH/status DELETE"));
  CHECK(world.events("FailedDeletion").empty());
}

TEST_CASE("a liqod that ends between the status and the removal leaves the rest to the next one") {
  Held world("the quota is used up");
  world.stop();
  world.refuses = [](const kube::HttpRequest& request) {
    return request.method == "DELETE" ? std::string("not now") : std::string();
  };
  world.start();
  world.delete_at_home();
  REQUIRE(world.reaches([&] { return world.end() == "Failed disrupted"; }));
  CHECK_FALSE(world.is_removed());
  world.stop();
  world.refuses = nullptr;
  const std::size_t before = world.server.writes().size();
  world.start();
  REQUIRE(world.reaches([&] { return world.is_removed(); }));
  CHECK(world.written(before) == "DELETE");
}

TEST_CASE("a Node does not wait for what others hold") {
  Held world("the quota is used up");
  kube::Object peer = kube::Object::make(kinds::foreign_clusters, {"", "milan"});
  peer.mutable_spec()["clusterID"] = "milan";
  SUBCASE("that is drained") {}
  SUBCASE("of a provider that is lost") {
    world.outage = [](kube::HttpRequest&) { return true; };
    peer.set_annotation(api::annotations::permanently_unreachable, "true");
  }
  world.apply(kinds::foreign_clusters, peer);
  world.pass(1s);
  (void)world.server.remove(kinds::virtual_nodes, {tenant, "milan"}, {}, "operator");
  REQUIRE(world.reaches([&] { return !world.has(resources::nodes, {"", "milan"}); }));
  REQUIRE(world.reaches([&] { return !world.has(kinds::virtual_nodes, {tenant, "milan"}); }));
  CHECK(world.is_removed());
  CHECK(world.end() == "Failed disrupted");
}

TEST_CASE("what runs at a provider that is lost is removed with an unknown end") {
  Held world;
  world.run();
  kube::Object peer = kube::Object::make(kinds::foreign_clusters, {"", "milan"});
  peer.mutable_spec()["clusterID"] = "milan";
  peer.set_annotation(api::annotations::permanently_unreachable, "true");
  world.outage = [](kube::HttpRequest&) { return true; };
  world.apply(kinds::foreign_clusters, peer);
  world.pass(1s);
  (void)world.server.remove(kinds::virtual_nodes, {tenant, "milan"}, {}, "operator");
  REQUIRE(world.reaches([&] { return !world.has(kinds::virtual_nodes, {tenant, "milan"}); }));
  CHECK_FALSE(world.has(resources::nodes, {"", "milan"}));
  CHECK(world.is_removed());
  CHECK(world.end() == "Failed 137 disrupted");
}

TEST_CASE("a pod without a grace period stays at home while its remote pod does not end") {
  Held world;
  world.create_pod("web", "1", 0);
  world.run_at_milan("web");
  (void)world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 5}, "operator");
  REQUIRE(world.reaches([&] { return world.local("web")->is_deleting(); }, 3min));
  CHECK(world.reaches([&] { return world.events("RemotePodStuck").size() == 1; }));
  world.pass(5min);
  CHECK(world.local("web"));
  (void)world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "operator");
  CHECK(world.reaches([&] { return !world.local("web"); }));
}

}  // namespace liqo::testing
