// PodDisruptionBudgets of a simulated cluster: what evictions they allow, and how they are counted.
#include "fixture.hpp"
#include "kube/testing/fake/disruption_controller.hpp"
#include "kube/testing/sim/simulator.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

constexpr Resource budgets{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"};
const ObjectKey quorum{"d", "quorum"};

struct Cluster {
  Simulator simulator{1};
  FakeApiServer server{simulator.clock()};
  FakeDisruptionController controller{simulator, server};

  void make_pod(std::string_view name, bool is_ready = true) {
    json::object pod = Fixture::pod(name, "node");
    pod["metadata"].as_object()["labels"] = json::object{{"app", "quorum"}};
    REQUIRE(server.create(resources::pods, std::move(pod), "test").has_value());
    REQUIRE(server
                .update(
                    {resources::pods, {"d", std::string(name)}, "status"},
                    [&](json::object& next) {
                      json::object& status = ensure_object(next, "status");
                      status["phase"] = "Running";
                      status["conditions"] =
                          json::array{json::object{{"type", "Ready"}, {"status", is_ready ? "True" : "False"}}};
                    },
                    "test")
                .has_value());
  }
  void make_budget(std::string_view name, std::int64_t least, std::string_view policy = {}) {
    json::object spec{{"minAvailable", least},
                      {"selector", json::object{{"matchLabels", json::object{{"app", "quorum"}}}}}};
    if (!policy.empty()) spec["unhealthyPodEvictionPolicy"] = policy;
    REQUIRE(server
                .create(budgets,
                        {{"metadata", json::object{{"name", name}, {"namespace", "d"}}}, {"spec", std::move(spec)}},
                        "test")
                .has_value());
  }
  int evict(std::string_view name) {
    return server
        .handle(request::create_subresource(resources::pods, {"d", std::string(name)}, "eviction", "{}"), "test")
        .status;
  }
  std::int64_t status(std::string_view field) { return int_at(*server.get(budgets, quorum), {"status", field}); }
  std::size_t disrupted() { return object_at(*server.get(budgets, quorum), {"status", "disruptedPods"}).size(); }
};

}  // namespace

TEST_CASE("evictions go on until the budget allows no more, also before they are counted") {
  Cluster c;
  for (const char* name : {"q-0", "q-1", "q-2"}) c.make_pod(name);
  c.make_budget("quorum", 2);
  CHECK(c.evict("q-0") == 429);
  c.simulator.run_for(1s);
  CHECK(c.status("disruptionsAllowed") == 1);
  CHECK(c.status("currentHealthy") == 3);
  CHECK(c.evict("q-0") == 201);
  CHECK(c.evict("q-1") == 429);
  c.simulator.run_for(1s);
  CHECK(c.status("disruptionsAllowed") == 0);
  CHECK(c.status("currentHealthy") == 2);
  c.make_pod("q-3");
  c.simulator.run_for(1s);
  CHECK(c.evict("q-1") == 201);
}

TEST_CASE("a pod in disruptedPods does not count until two minutes after the time there") {
  Cluster c;
  for (const char* name : {"q-0", "q-1"}) c.make_pod(name);
  c.make_budget("quorum", 1);
  c.simulator.run_for(1s);
  REQUIRE(c.server
              .update(
                  {budgets, quorum, "status"},
                  [&](json::object& next) {
                    ensure_object(ensure_object(next, "status"), "disruptedPods")["q-0"] =
                        format_time(c.simulator.clock().wall() + 10min);
                  },
                  "test")
              .has_value());
  c.simulator.run_for(1s);
  CHECK(c.status("currentHealthy") == 1);
  CHECK(c.evict("q-1") == 429);
  c.simulator.run_for(11min);
  CHECK(c.disrupted() == 1);
  c.simulator.run_for(2min);
  CHECK(c.disrupted() == 0);
  CHECK(c.status("disruptionsAllowed") == 1);
}

TEST_CASE("what is not ready goes if the budget says so, and what two budgets select does not") {
  Cluster c;
  c.make_pod("q-0");
  c.make_pod("q-1", false);
  c.make_budget("quorum", 1, "AlwaysAllow");
  c.simulator.run_for(1s);
  CHECK(c.evict("q-1") == 201);
  CHECK(c.evict("q-0") == 429);
  c.make_budget("second", 0);
  c.simulator.run_for(1s);
  CHECK(c.evict("q-0") == 500);
}

TEST_CASE("without a budget, and of a pod that has not started, every eviction is allowed") {
  Cluster c;
  c.make_pod("q-0");
  CHECK(c.evict("q-0") == 201);
  json::object pod = Fixture::pod("q-1", "node");
  pod["metadata"].as_object()["labels"] = json::object{{"app", "quorum"}};
  REQUIRE(c.server.create(resources::pods, std::move(pod), "test").has_value());
  c.make_budget("quorum", 1);
  c.simulator.run_for(1s);
  CHECK(c.evict("q-1") == 201);
}
