// The other processes of a simulated cluster: garbage collector, kubelet, scheduler, a controller of replicas.
#include "fixture.hpp"
#include "kube/testing/fake/garbage_collector.hpp"
#include "kube/testing/fake/kubelet.hpp"
#include "kube/testing/fake/replica_set.hpp"
#include "kube/testing/fake/scheduler.hpp"
#include "kube/testing/sim/simulator.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

struct Cluster {
  explicit Cluster(std::uint64_t seed = 1) : simulator(seed) { server.serve(widgets); }
  Simulator simulator;
  FakeApiServer server{simulator.clock()};
  FakeGarbageCollector collector{simulator, server};
  FakeKubelet kubelet{simulator, server, {}};

  std::string phase(std::string_view name) {
    const Tree pod = server.get(resources::pods, {"d", std::string(name)});
    return pod ? std::string(string_at(*pod, {"status", "phase"})) : "gone";
  }
  std::int64_t restarts(std::string_view name) {
    const Tree pod = server.get(resources::pods, {"d", std::string(name)});
    return int_at(array_at(*pod, {"status", "containerStatuses"}).at(0), {"restartCount"});
  }
  std::string make(json::object object, const Resource& resource = widgets) {
    auto made = server.create(resource, std::move(object), "test");
    REQUIRE(made.has_value());
    return std::string(string_at(**made, {"metadata", "uid"}));
  }
};

json::object owned(std::string_view name, std::initializer_list<std::string> owners) {
  json::object made = Fixture::widget(name);
  json::array refs;
  for (const std::string& uid : owners)
    refs.push_back(json::object{{"apiVersion", "example.io/v1"},
                                {"kind", "Widget"},
                                {"name", "o"},
                                {"uid", uid},
                                {"blockOwnerDeletion", true}});
  made["metadata"].as_object()["ownerReferences"] = std::move(refs);
  return made;
}

}  // namespace

TEST_CASE("objects of two groups whose kinds have one plural are collected each by itself") {
  Cluster c;
  constexpr Resource knative{"serving.knative.dev", "v1", "services", "Service"};
  c.server.serve(knative);
  c.make({{"metadata", json::object{{"name", "twin"}, {"namespace", "d"}}}}, resources::services);
  json::object other = owned("twin", {"nobody"});
  other["apiVersion"] = knative.api_version();
  other["kind"] = knative.kind;
  c.make(std::move(other), knative);
  c.simulator.run_for(1s);
  CHECK(c.server.get(resources::services, {"d", "twin"}));
  CHECK_FALSE(c.server.get(knative, {"d", "twin"}));
}

TEST_CASE("objects of two versions of one kind are collected each by itself") {
  Cluster c;
  constexpr Resource newer{"example.io", "v2", "widgets", "Widget"};
  c.server.serve(newer);
  const std::string owner = c.make(Fixture::widget("owner"));
  const auto make_newer = [&](json::object object) {
    object["apiVersion"] = newer.api_version();
    return c.make(std::move(object), newer);
  };
  const std::string newer_owner = make_newer(Fixture::widget("newer-owner"));
  make_newer(owned("child", {owner}));
  make_newer(owned("newer-child", {newer_owner}));
  CHECK(c.server.remove(widgets, {"d", "owner"}, {}, "test").has_value());
  CHECK(c.server.remove(newer, {"d", "newer-owner"}, {.propagation = Propagation::foreground}, "test").has_value());
  c.simulator.run_for(5s);
  CHECK_FALSE(c.server.get(newer, {"d", "child"}));
  CHECK_FALSE(c.server.get(newer, {"d", "newer-child"}));
  CHECK_FALSE(c.server.get(newer, {"d", "newer-owner"}));
}

TEST_CASE("what loses all its owners is collected, what keeps one loses only the reference") {
  Cluster c;
  const std::string one = c.make(Fixture::widget("one")), two = c.make(Fixture::widget("two"));
  c.make(owned("child", {one}));
  c.make(owned("shared", {one, two}));
  c.make(owned("dangling", {"nobody"}));
  c.simulator.run_for(1s);
  CHECK_FALSE(c.server.get(widgets, {"d", "dangling"}));
  CHECK(c.server.get(widgets, {"d", "child"}));
  CHECK(c.server.remove(widgets, {"d", "one"}, {}, "test").has_value());
  c.simulator.run_for(1s);
  CHECK_FALSE(c.server.get(widgets, {"d", "child"}));
  CHECK(array_at(*c.server.get(widgets, {"d", "shared"}), {"metadata", "ownerReferences"}).size() == 1);
}

TEST_CASE("foreground deletion waits for its dependents, orphan deletion lets them live") {
  Cluster c;
  const std::string one = c.make(Fixture::widget("one")), two = c.make(Fixture::widget("two"));
  json::object slow = owned("slow", {one});
  slow["metadata"].as_object()["finalizers"] = json::array{"example.io/hold"};
  c.make(slow);
  c.make(owned("orphan", {two}));
  DeleteOptions foreground, orphan;
  foreground.propagation = Propagation::foreground;
  orphan.propagation = Propagation::orphan;
  CHECK(c.server.remove(widgets, {"d", "one"}, foreground, "test").has_value());
  CHECK(c.server.remove(widgets, {"d", "two"}, orphan, "test").has_value());
  c.simulator.run_for(2s);
  CHECK(c.server.get(widgets, {"d", "one"}));
  CHECK_FALSE(c.server.get(widgets, {"d", "two"}));
  CHECK(c.server.get(widgets, {"d", "orphan"}));
  static_cast<void>(c.server.update(
      {widgets, {"d", "slow"}}, [](json::object& o) { o["metadata"].as_object().erase("finalizers"); }, "test"));
  c.simulator.run_for(2s);
  CHECK_FALSE(c.server.get(widgets, {"d", "slow"}));
  CHECK_FALSE(c.server.get(widgets, {"d", "one"}));
}

TEST_CASE("bound pods run, and end as their policy says") {
  struct Case {
    const char* policy;
    int code;
    const char* phase;
    bool restarts;
  };
  for (const Case& k : {Case{"Always", 0, "Running", true}, Case{"OnFailure", 0, "Succeeded", false},
                        Case{"OnFailure", 3, "Running", true}, Case{"Never", 3, "Failed", false}}) {
    CAPTURE(k.policy);
    CAPTURE(k.code);
    Cluster c;
    json::object pod = Fixture::pod("a", "node");
    pod["spec"].as_object()["restartPolicy"] = k.policy;
    pod["metadata"].as_object()["annotations"] =
        json::object{{FakeKubelet::run_seconds, "10"}, {FakeKubelet::exit_code, std::to_string(k.code)}};
    c.make(pod, resources::pods);
    CHECK(c.phase("a") == "Pending");
    c.simulator.run_for(5s);
    CHECK(c.phase("a") == "Running");
    CHECK_FALSE(string_at(*c.server.get(resources::pods, {"d", "a"}), {"status", "podIP"}).empty());
    c.simulator.run_for(10s);
    CHECK(c.phase("a") == k.phase);
    CHECK(c.restarts("a") == (k.restarts ? 1 : 0));
  }
}

TEST_CASE("a pod runs for ever where its annotation is no whole number of seconds, or none that a clock can count") {
  for (const char* policy : {"Never", "Always"})
    for (const char* seconds : {"", "soon", "10m", "1.5", "-1", "10000000000", "9223372036854775807"}) {
      CAPTURE(policy);
      CAPTURE(seconds);
      Cluster c;
      json::object pod = Fixture::pod("a", "node");
      pod["spec"].as_object()["restartPolicy"] = policy;
      pod["metadata"].as_object()["annotations"] = json::object{{FakeKubelet::run_seconds, seconds}};
      c.make(std::move(pod), resources::pods);
      c.simulator.run_for(3600s);
      CHECK(c.phase("a") == "Running");
      CHECK(c.restarts("a") == 0);
    }
}

TEST_CASE("a pod whose containers end at once is restarted every second") {
  Cluster c;
  json::object pod = Fixture::pod("a", "node");
  pod["spec"].as_object()["restartPolicy"] = "Always";
  pod["metadata"].as_object()["annotations"] = json::object{{FakeKubelet::run_seconds, "0"}};
  c.make(std::move(pod), resources::pods);
  c.simulator.run_for(5s);
  const std::int64_t before = c.restarts("a");
  CHECK(before > 0);
  c.simulator.run_for(10s);
  CHECK(c.restarts("a") == before + 10);
}

TEST_CASE("a kubelet restarts a pod of whose containers somebody has written that they are no objects") {
  Cluster c;
  json::object pod = Fixture::pod("a", "node");
  pod["metadata"].as_object()["annotations"] = json::object{{FakeKubelet::run_seconds, "10"}};
  c.make(std::move(pod), resources::pods);
  c.simulator.run_for(5s);
  const auto written = c.server.update(
      {resources::pods, {"d", "a"}, "status"},
      [](json::object& next) { next["status"].as_object()["containerStatuses"] = json::array{"x"}; }, "test");
  REQUIRE(written.has_value());
  CHECK_NOTHROW(c.simulator.run_for(20s));
  CHECK(c.phase("a") == "Running");
}

TEST_CASE("a deleted pod ends before it is gone, and an evicted one stays Failed") {
  Cluster c;
  c.make(Fixture::pod("a", "node"), resources::pods);
  c.make(Fixture::pod("b", "node"), resources::pods);
  c.simulator.run_for(5s);
  CHECK(c.server.remove(resources::pods, {"d", "a"}, {}, "test").has_value());
  c.kubelet.evict({"d", "b"});
  c.simulator.run_for(30s);
  CHECK(c.phase("a") == "gone");
  CHECK(c.phase("b") == "Failed");
  bool ended_first = false;
  for (const FakeChange& change : c.server.store().table(resources::pods).log)
    if (change.key.name == "a" && change.type == ChangeType::deleted)
      ended_first =
          !object_at(array_at(*change.before, {"status", "containerStatuses"})[0], {"state", "terminated"}).empty();
  CHECK(ended_first);
}

TEST_CASE("what a kubelet starts is known also where no status says so, and ends as what ran") {
  Simulator simulator(1);
  FakeApiServer server{simulator.clock()};
  FakeKubelet kubelet{simulator, server, {.start_high = 10ms, .report_high = 3600s}};
  json::object pod = Fixture::pod("a", "node");
  pod["metadata"].as_object()["finalizers"] = json::array{"example.com/held"};
  REQUIRE(server.create(resources::pods, std::move(pod), "test").has_value());
  simulator.run_for(1s);
  REQUIRE(kubelet.runs().size() == 1);
  CHECK(string_at(*kubelet.runs()[0].pod, {"metadata", "name"}) == "a");
  const ObjectKey key{"d", "a"};
  CHECK(array_at(*server.get(resources::pods, key), {"status", "containerStatuses"}).empty());
  REQUIRE(server.remove(resources::pods, key, {.grace_period_seconds = 0}, "test").has_value());
  simulator.run_for(7200s);
  const Tree held = server.get(resources::pods, key);
  REQUIRE(held);
  CHECK_FALSE(object_at(array_at(*held, {"status", "containerStatuses"}).at(0), {"state", "terminated"}).empty());
  CHECK(kubelet.runs().size() == 1);
}

TEST_CASE("a replica set is kept at its number, by pods that get bound") {
  Cluster c;
  FakeScheduler scheduler(c.simulator, c.server, [](const json::object&) { return std::string("node"); });
  FakeReplicaSet set(c.simulator, c.server, Fixture::pod("web"), 3);
  const auto running = [&c] {
    std::size_t count = 0;
    for (const Tree& pod : c.server.list(resources::pods)) count += string_at(*pod, {"status", "phase"}) == "Running";
    return count;
  };
  c.simulator.run_for(10s);
  CHECK(running() == 3);
  c.kubelet.evict({"d", std::string(string_at(*c.server.list(resources::pods)[0], {"metadata", "name"}))});
  c.simulator.run_for(10s);
  CHECK(running() == 3);
  set.scale(1);
  c.simulator.run_for(60s);
  CHECK(running() == 1);
}
