// The provider's half of consumers' budgets: the pods that are to be evicted, and the time that a budget holds a drain.
#include "controllers/offloading/budget_holds.hpp"

#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "core/offloading/disruption_budget.hpp"
#include "core/peering/forge.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

const kube::ObjectKey copy_key{"shop-rome", "quorum"}, pod_key{"shop-rome", "q-0"};

/// Provider milan with a pod of rome on its node, and a copy of a budget that selects it.
struct Holding : ClusterFixture {
  Holding() : ClusterFixture("milan") {
    server.serve(kinds::disruption_budgets);
    kube::Object tenant = core::forge_tenant_namespace("rome");
    tenant.set_annotation(api::annotations::pod_policy, R"({"disruptionBudgets":{"maxBlock":"10m"}})");
    apply(resources::namespaces, tenant);
    kube::Object twin = kube::Object::make(resources::namespaces, {"", "shop-rome"});
    twin.set_label(api::labels::remote_cluster_id, "rome");
    apply(resources::namespaces, twin);
    apply(resources::nodes, kube::Object::make(resources::nodes, {"", "worker"}));
    kube::Object granted = kube::Object::make(kinds::quotas, {"liqo-tenant-rome", "pool-1f00"});
    granted.mutable_spec()["user"] = "pool-1f00";
    apply(kinds::quotas, granted);
    kube::Object registered = kube::Object::make(kinds::tenants, {"liqo-tenant-rome", "rome"});
    registered.mutable_spec() = json::object{{"clusterID", "rome"}, {"authzPolicy", "TolerateNoHandshake"}};
    apply(kinds::tenants, registered);
    make_copy();
    controllers::Settings settings;
    settings.offloading.enforce_resources = false;
    start(std::move(settings));
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, pod_key);
    shadow.set_label("app", "quorum");
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::creator_user, "pool-1f00");
    shadow.mutable_spec()["pod"] = json::object{
        {"nodeName", "worker"}, {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    apply(kinds::shadow_pods, shadow);
    REQUIRE(reaches([&] { return has(resources::pods, pod_key); }));
    change(resources::pods, pod_key, "status", [](json::object& next) {
      json::object& status = kube::ensure_object(next, "status");
      status["phase"] = "Running";
      status["conditions"] = json::array{json::object{{"type", "Ready"}, {"status", "True"}}};
    });
    pass(5s);
  }
  ~Holding() { stop(); }

  void make_copy() {
    kube::Object home = kube::Object::make(kinds::disruption_budgets, {"shop", "quorum"});
    home.mutable_spec()["selector"] = json::object{{"matchLabels", json::object{{"app", "quorum"}}}};
    apply(kinds::disruption_budgets, core::forge_budget_copy(home, {"rome", "milan"}, "shop-rome", 1));
  }
  void cordon(bool is_cordoned) {
    change(resources::nodes, {"", "worker"}, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["unschedulable"] = is_cordoned; });
  }
  std::string wanted() {
    const auto copy = find(kinds::disruption_budgets, copy_key);
    return copy ? std::string(copy->annotation(api::annotations::evictions_wanted)) : "(gone)";
  }
  bool is_lifted() {
    return find(resources::namespaces, {"", "shop-rome"})->has_annotation(api::annotations::budgets_lifted);
  }
};

}  // namespace

TEST_CASE("a copy names pods on cordoned nodes, and holds a drain no longer than the policy says") {
  Holding milan;
  CHECK(milan.wanted() == "");
  milan.cordon(true);
  REQUIRE(milan.reaches([&] { return milan.wanted() == "q-0"; }));
  milan.pass(9min);
  CHECK(milan.wanted() == "q-0");
  REQUIRE(milan.reaches([&] { return milan.wanted() == "(gone)"; }, 2min));
  milan.pass(1s);
  CHECK(milan.is_lifted());
  CHECK(milan.events("DisruptionBudgetsLifted").size() == 2);
  // What comes back all the same goes again.
  milan.make_copy();
  CHECK(milan.reaches([&] { return milan.wanted() == "(gone)"; }));
  milan.cordon(false);
  CHECK(milan.reaches([&] { return !milan.is_lifted(); }));
  milan.make_copy();
  milan.pass(1min);
  CHECK(milan.wanted() == "");
}

TEST_CASE("pods of a node that is open again are not wanted, and that is written once") {
  Holding milan;
  milan.cordon(true);
  REQUIRE(milan.reaches([&] { return milan.wanted() == "q-0"; }));
  milan.cordon(false);
  REQUIRE(milan.reaches([&] { return milan.wanted() == ""; }));
  const std::size_t before = milan.writes();
  milan.pass(5min);
  CHECK(milan.writes() - before < 40);
  CHECK(milan.wanted() == "");
}

TEST_CASE("copies go where the policy lets budgets hold no longer, and so does what is no copy") {
  Holding milan;
  kube::Object percent = kube::Object::make(kinds::disruption_budgets, {"shop-rome", "percent"});
  percent.set_label(api::labels::reflection_origin, "rome");
  percent.mutable_spec()["minAvailable"] = "100%";
  milan.apply(kinds::disruption_budgets, percent);
  CHECK(milan.reaches([&] { return !milan.has(kinds::disruption_budgets, percent.key()); }));
  CHECK(milan.has(kinds::disruption_budgets, copy_key));
  milan.change(resources::namespaces, {"", std::string(core::forge_tenant_namespace("rome").name())}, "",
               [](json::object& next) { kube::testing::set_annotation(next, api::annotations::pod_policy, "{}"); });
  CHECK(milan.reaches([&] { return !milan.has(kinds::disruption_budgets, copy_key); }));
}

TEST_CASE("copies that select the same pod hold no drain") {
  Holding milan;
  kube::Object second = *milan.find(kinds::disruption_budgets, copy_key);
  kube::Object other = kube::Object::make(kinds::disruption_budgets, {"shop-rome", "second"});
  other.tree()["spec"] = second.spec();
  other.set_label(api::labels::reflection_origin, "rome");
  milan.apply(kinds::disruption_budgets, other);
  milan.pass(1min);
  CHECK(milan.wanted() == "");
  milan.cordon(true);
  CHECK(
      milan.reaches([&] { return milan.wanted() == "(gone)" && !milan.has(kinds::disruption_budgets, other.key()); }));
  milan.pass(1s);
  REQUIRE_FALSE(milan.events("DisruptionBudgetsLifted").empty());
  CHECK(milan.events("DisruptionBudgetsLifted").front().contains("several of them select pod q-0"));
  milan.pass(5min);
  CHECK(milan.is_lifted());
  milan.cordon(false);
  CHECK(milan.reaches([&] { return !milan.is_lifted(); }));
}

TEST_CASE("budgets that are no consumer's are left alone") {
  Holding milan;
  kube::Object own = kube::Object::make(kinds::disruption_budgets, {"default", "own"});
  own.mutable_spec()["maxUnavailable"] = 0;
  milan.apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", "default"}));
  kube::Object in_twin = kube::Object::make(kinds::disruption_budgets, {"shop-rome", "own"});
  in_twin.mutable_spec()["maxUnavailable"] = 0;
  milan.apply(kinds::disruption_budgets, in_twin);
  milan.apply(kinds::disruption_budgets, own);
  milan.cordon(true);
  milan.pass(15min);
  CHECK(milan.has(kinds::disruption_budgets, own.key()));
  CHECK(milan.has(kinds::disruption_budgets, in_twin.key()));
}

}  // namespace liqo::testing
