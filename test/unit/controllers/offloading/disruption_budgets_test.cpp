// Home's half of budgets at providers: copies, lent evictions, and refusals.
#include "../offloading_fixture.hpp"
#include "core/offloading/disruption_budget.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

const kube::ObjectKey quorum{shop, "quorum"};

/// Two pods of rome run in milan, and a budget selects them. The test plays the disruption controllers of both clusters
/// and liqod of milan.
struct Quorum : Offloading {
  Quorum()
      : Offloading({}, {}, [](Offloading& world) {
          world.server.serve(kinds::disruption_budgets);
          world.milan.serve(kinds::disruption_budgets);
          kube::Object there = kube::Object::make(resources::namespaces, {"", twin});
          there.set_annotation(api::annotations::holds_budgets, "true");
          (void)world.milan.create(resources::namespaces, there.tree(), "milan");
          // Pods of a Node that is not Ready are not ready.
          world.change(kinds::virtual_nodes, {tenant, "milan"}, "", [](json::object& next) {
            next["spec"].as_object()["resourceQuota"] =
                json::object{{"hard", json::object{{"cpu", "8"}, {"memory", "16Gi"}}}};
          });
        }) {}

  void run_pods() {
    for (const char* name : {"q-0", "q-1"}) {
      kube::Object pod = create_pod(name);
      pod.set_label("app", "quorum");
      apply(resources::pods, pod);
      // milan is asked for its pods by this label.
      REQUIRE(reaches([&] {
        const auto shadow = at_milan(kinds::shadow_pods, name);
        return shadow && shadow->label("app") == "quorum";
      }));
      run_at_milan(name);
      REQUIRE(reaches([&] { return condition(name, "Ready", "status") == "True"; }));
    }
  }
  void make_budget(std::int64_t allowed) {
    kube::Object budget = kube::Object::make(kinds::disruption_budgets, quorum);
    budget.mutable_spec() = json::object{{"maxUnavailable", 1},
                                         {"selector", json::object{{"matchLabels", json::object{{"app", "quorum"}}}}}};
    apply(kinds::disruption_budgets, budget);
    allow(allowed);
  }
  void allow(std::int64_t allowed) {
    const std::int64_t generation = find(kinds::disruption_budgets, quorum)->generation();
    change(kinds::disruption_budgets, quorum, "status", [&](json::object& next) {
      json::object& status = kube::ensure_object(next, "status");
      status["observedGeneration"] = generation;
      status["disruptionsAllowed"] = allowed;
    });
  }
  /// Marks the twin.
  void mark(std::string_view annotation, std::string_view value) {
    (void)milan.update(
        {resources::namespaces, {"", twin}},
        [&](json::object& next) { kube::testing::set_annotation(next, annotation, value); }, "milan");
  }
  std::optional<kube::Object> copy() { return at_milan(kinds::disruption_budgets, "quorum"); }
  std::int64_t least() { return copy() ? kube::int_at(copy()->spec(), {"minAvailable"}) : -1; }
  void want(std::string_view names) {
    (void)milan.update(
        {kinds::disruption_budgets, {twin, "quorum"}},
        [&](json::object& next) { kube::testing::set_annotation(next, api::annotations::evictions_wanted, names); },
        "milan");
  }
  /// Counts in milan.
  void count(std::int64_t healthy) {
    const std::int64_t generation = copy()->generation();
    (void)milan.update(
        {kinds::disruption_budgets, {twin, "quorum"}, "status"},
        [&](json::object& next) {
          json::object& status = kube::ensure_object(next, "status");
          status["observedGeneration"] = generation;
          status["currentHealthy"] = healthy;
        },
        "milan");
  }
  std::size_t lent() {
    return kube::object_at(find(kinds::disruption_budgets, quorum)->status(), {"disruptedPods"}).size();
  }
  std::int64_t allowed() {
    return kube::int_at(find(kinds::disruption_budgets, quorum)->status(), {"disruptionsAllowed"});
  }
};

}  // namespace

TEST_CASE("a copy allows evictions while milan wants them and home has lent them, and goes with its budget") {
  Quorum world;
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return world.least() == 2; }));
  world.count(2);
  world.pass(1min);
  CHECK(world.least() == 2);
  CHECK(world.lent() == 0);

  world.want("q-0,q-1");
  REQUIRE(world.reaches([&] { return world.least() == 1; }));
  CHECK(world.lent() == 1);
  CHECK(world.allowed() == 0);
  world.pass(1s);
  CHECK(world.events("DisruptionLent").size() == 1);

  // Nothing is taken back before milan has counted by the new number.
  world.want("");
  REQUIRE(world.reaches([&] { return world.least() == 2; }));
  world.pass(30s);
  CHECK(world.lent() == 1);
  world.count(2);
  REQUIRE(world.reaches([&] { return world.lent() == 0; }));
  // Kubernetes counts what is allowed.
  CHECK(world.allowed() == 0);

  (void)world.server.remove(kinds::disruption_budgets, quorum, {}, "operator");
  CHECK(world.reaches([&] { return !world.copy(); }));
}

TEST_CASE("evictions are taken back if their budget is not to be copied any more, or milan lets none hold") {
  Quorum world;
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return world.least() == 2; }));
  world.count(2);
  world.want("q-0");
  REQUIRE(world.reaches([&] { return world.lent() == 1 && world.least() == 1; }));
  SUBCASE("not to be copied") {
    world.change(kinds::disruption_budgets, quorum, "", [](json::object& next) {
      kube::testing::set_annotation(next, api::annotations::skip_reflection, "true");
    });
  }
  SUBCASE("none hold, and the process that knew of the copy is gone") {
    world.stop();
    world.mark(api::annotations::holds_budgets, "false");
    REQUIRE(world.milan.remove(kinds::disruption_budgets, {twin, "quorum"}, {}, "milan").has_value());
    world.start();
  }
  CHECK(world.reaches([&] { return world.lent() == 0 && !world.copy(); }, 5min));
}

TEST_CASE("nothing is taken back for a copy that is gone while home shows a pod as ready that milan has evicted") {
  Quorum world;
  world.stop();
  bool is_late = false;
  world.refuses = [&](const kube::HttpRequest& request) -> std::string {
    const bool reads = request.verb == "get" || request.verb == "list" || request.verb == "watch";
    return is_late && request.resource == "pods" && !reads ? "later" : "";
  };
  world.start();
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return world.least() == 2; }));
  world.count(2);
  world.want("q-0");
  REQUIRE(world.reaches([&] { return world.lent() == 1 && world.least() == 1; }));
  is_late = true;
  world.change_at_milan("q-0", "status", [](json::object& next) {
    next["status"].as_object()["conditions"] = json::array{json::object{{"type", "Ready"}, {"status", "False"}}};
  });
  world.change(kinds::disruption_budgets, quorum, "", [](json::object& next) {
    kube::testing::set_annotation(next, api::annotations::skip_reflection, "true");
  });
  REQUIRE(world.reaches([&] { return !world.copy(); }));
  world.pass(3min);
  REQUIRE(world.condition("q-0", "Ready", "status") == "True");
  CHECK(world.lent() == 1);
}

TEST_CASE("nothing is taken back while home shows a pod as ready that milan has evicted") {
  Quorum world;
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return world.least() == 2; }));
  world.count(2);
  world.want("q-0");
  REQUIRE(world.reaches([&] { return world.least() == 1; }));
  (void)world.milan.update(
      {kinds::disruption_budgets, {twin, "quorum"}, "status"},
      [](json::object& next) {
        kube::ensure_object(kube::ensure_object(next, "status"), "disruptedPods")["q-1"] = "2026-11-30T12:00:00Z";
      },
      "milan");
  world.want("");
  REQUIRE(world.reaches([&] { return world.least() == 2; }));
  world.count(1);
  world.pass(1min);
  CHECK(world.lent() == 1);
}

TEST_CASE("a copy that an earlier process left behind goes") {
  Quorum world;
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return world.least() == 2; }));
  world.stop();
  (void)world.server.remove(kinds::disruption_budgets, quorum, {}, "operator");
  world.start();
  CHECK(world.reaches([&] { return !world.copy(); }));
}

TEST_CASE("a provider that lets no budgets hold is asked once an hour, and that is told once") {
  Quorum world;
  int asked = 0;
  world.refuse = [&](const kube::HttpRequest& request) -> std::string {
    if (request.resource != "poddisruptionbudgets") return "";
    ++asked;
    return "the policy for cluster rome has no disruptionBudgets";
  };
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return !world.events("DisruptionBudgetsNotHeld").empty(); }));
  world.pass(5min);
  const int before = asked;
  world.pass(3h);
  CHECK(asked - before <= 3);
  CHECK(world.times_reported("DisruptionBudgetsNotHeld") == 1);
  CHECK(world.events("DisruptionBudgetsNotHeld").front().contains("hold at home only"));
  CHECK(world.events("DisruptionBudgetsNotHeld").front().contains("--allow disruptionBudgets=maxBlock=10m"));
}

TEST_CASE("a provider with the roles of an earlier version is asked once an hour for what is new, and pods run there") {
  Quorum world;
  world.stop();
  int rights = 0, budgets = 0, twins = 0;
  world.refuse = [&](const kube::HttpRequest& request) -> std::string {
    const bool is_right = request.target.contains("selfsubjectaccessreviews");
    const bool is_budget = request.resource == "poddisruptionbudgets";
    const bool is_twin = request.resource == "namespaces" && request.verb == "get";
    rights += is_right ? 1 : 0;
    budgets += is_budget ? 1 : 0;
    twins += is_twin ? 1 : 0;
    return is_right || is_budget || is_twin ? "no right" : "";
  };
  world.start();
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return !world.events("DisruptionBudgetsNotHeld").empty(); }));
  CHECK(world.events("DisruptionBudgetsNotHeld").front().contains("it gives no right to have them there"));
  world.pass(5min);
  const int rights_before = rights, twins_before = twins;
  world.pass(3h);
  CHECK(rights - rights_before <= 4);
  CHECK(twins - twins_before <= 4);
  CHECK(budgets == 0);
  CHECK(world.times_reported("DisruptionBudgetsNotHeld") == 1);
  CHECK(world.condition("q-0", "Ready", "status") == "True");
  // The roles come with an upgrade of the provider.
  world.refuse = [](const kube::HttpRequest&) { return std::string(); };
  CHECK(world.reaches([&] { return world.least() == 2; }, 2h));
}

TEST_CASE("where the twin says that no budgets hold, none is written, and that is told once") {
  Quorum world;
  int written = 0, read = 0;
  world.refuse = [&](const kube::HttpRequest& request) -> std::string {
    if (request.resource == "poddisruptionbudgets" && request.verb == "create") ++written;
    if (request.resource == "namespaces") ++read;
    return "";
  };
  world.mark(api::annotations::holds_budgets, "false");
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return !world.events("DisruptionBudgetsNotHeld").empty(); }));
  CHECK(world.events("DisruptionBudgetsNotHeld").front().contains("its policy has no disruptionBudgets"));
  CHECK(world.events("DisruptionBudgetsNotHeld").front().contains("--allow disruptionBudgets=maxBlock=10m"));
  world.pass(3h);
  CHECK(written == 0);
  CHECK(read < 60);
  CHECK(world.times_reported("DisruptionBudgetsNotHeld") == 1);
  world.mark(api::annotations::holds_budgets, "true");
  CHECK(world.reaches([&] { return world.least() == 2; }, 2h));
}

TEST_CASE("while budgets have held a drain for too long, no copy is written, and soon after that one is") {
  Quorum world;
  int written = 0;
  world.refuse = [&](const kube::HttpRequest& request) -> std::string {
    if (request.resource == "poddisruptionbudgets" && request.verb == "create") ++written;
    return "";
  };
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return world.least() == 2; }));
  world.pass(1min);
  world.mark(api::annotations::budgets_lifted, "2026-11-30T12:00:00Z");
  REQUIRE(world.milan.remove(kinds::disruption_budgets, {twin, "quorum"}, {}, "milan").has_value());
  world.pass(20min);
  CHECK(written == 1);
  CHECK(world.least() == -1);
  REQUIRE(!world.events("DisruptionBudgetsNotHeld").empty());
  CHECK(world.events("DisruptionBudgetsNotHeld").front().contains("lets them hold there no longer"));
  (void)world.milan.update(
      {resources::namespaces, {"", twin}},
      [&](json::object& next) {
        kube::ensure_object(kube::ensure_object(next, "metadata"), "annotations")
            .erase(api::annotations::budgets_lifted);
      },
      "milan");
  CHECK(world.reaches([&] { return world.least() == 2; }, 6min));
}

TEST_CASE("a budget of the provider's own that has the name of a copy stays, and is not run into again and again") {
  Quorum world;
  int written = 0;
  world.refuse = [&](const kube::HttpRequest& request) -> std::string {
    if (request.resource == "poddisruptionbudgets" && request.verb == "create") ++written;
    return "";
  };
  kube::Object own = kube::Object::make(kinds::disruption_budgets, {twin, "quorum"});
  own.mutable_spec()["maxUnavailable"] = 1;
  REQUIRE(world.milan.create(kinds::disruption_budgets, own.tree(), "milan").has_value());
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return !world.events("DisruptionBudgetsNotHeld").empty(); }));
  CHECK(world.events("DisruptionBudgetsNotHeld").front().contains("has one of that name there"));
  world.pass(30min);
  CHECK(written == 1);
  CHECK(kube::int_at(world.copy()->spec(), {"maxUnavailable"}) == 1);
}

TEST_CASE("without the right to lend, the copy lets nothing be evicted, and nothing is written again and again") {
  Quorum world;
  world.stop();
  world.refuses = [](const kube::HttpRequest& request) -> std::string {
    return request.resource == "poddisruptionbudgets" && request.verb != "list" && request.verb != "watch" &&
                   request.verb != "get"
               ? "no right"
               : "";
  };
  world.start();
  world.run_pods();
  world.make_budget(1);
  REQUIRE(world.reaches([&] { return world.least() == 2; }));
  world.count(2);
  world.want("q-0");
  world.pass(10min);
  CHECK(world.least() == 2);
  CHECK(world.lent() == 0);
  REQUIRE(world.times_reported("DisruptionBudgetsNotHeld") == 1);
  CHECK(world.events("DisruptionBudgetsNotHeld").front().contains("no right to lend evictions to cluster milan"));
}

TEST_CASE("with an image that is newer than its chart, pods run as before, and what is missing is told once") {
  Quorum world;
  world.stop();
  (void)world.server.remove(kinds::role_bindings, {shop, "liqo-liqod-tokens"}, {}, "operator");
  world.refuses = [](const kube::HttpRequest& request) -> std::string {
    const bool is_kind = request.resource == "poddisruptionbudgets" || request.resource == "networkpolicies";
    const bool is_door =
        request.method == "PATCH" && (request.resource == "services" || request.resource == "ingresses");
    const bool is_binding = request.method == "POST" && request.body.contains(R"("name":"liqo-liqod-tokens")");
    return is_kind || is_door || is_binding ? "no right" : "";
  };
  world.start();
  world.run_pods();
  world.make_budget(1);
  world.pass(2h);
  CHECK_FALSE(world.copy());
  CHECK(world.condition("q-0", "Ready", "status") == "True");
  CHECK(world.times_reported("FailedSATokensReflection") == 1);
}

}  // namespace liqo::testing
