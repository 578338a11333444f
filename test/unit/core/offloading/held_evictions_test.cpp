// The pods of a twin that are to be evicted, and the budgets that hold a drain for too long.
#include "core/offloading/held_evictions.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

const kube::WallTime noon = kube::parse_time("2026-11-30T12:00:00Z").value();

kube::Object pod(std::string_view name, std::string_view node, bool is_ready = true) {
  kube::Object made = kube::Object::make(kube::resources::pods, {"shop-rome", std::string(name)});
  made.set_label("app", "quorum");
  made.mutable_spec()["nodeName"] = node;
  made.mutable_status() = json::object{
      {"phase", "Running"},
      {"conditions", json::array{json::object{{"type", "Ready"}, {"status", is_ready ? "True" : "False"}}}}};
  return made;
}

kube::Object copy(std::string_view app = "quorum") {
  kube::Object made = kube::Object::make(api::kinds::disruption_budgets, {"shop-rome", "quorum"});
  made.set_label(api::labels::reflection_origin, "rome");
  made.mutable_spec() = json::object{{"minAvailable", 3},
                                     {"selector", json::object{{"matchLabels", json::object{{"app", app}}}}},
                                     {"unhealthyPodEvictionPolicy", "AlwaysAllow"}};
  return made;
}

}  // namespace

TEST_CASE("a node has been cordoned since its taint says so, or since that was seen") {
  kube::Object node = kube::Object::make(kube::resources::nodes, {"", "milan-1"});
  CHECK(!cordoned_since(node, noon));
  node.mutable_spec()["unschedulable"] = true;
  CHECK(cordoned_since(node, noon) == noon);
  node.mutable_spec()["taints"] = json::array{json::object{{"key", "else"}, {"timeAdded", "2026-11-30T11:00:00Z"}}};
  CHECK(cordoned_since(node, noon) == noon);
  node.mutable_spec()["taints"] =
      json::array{json::object{{"key", "node.kubernetes.io/unschedulable"}, {"timeAdded", "2026-11-30T11:50:00Z"}}};
  CHECK(cordoned_since(node, noon) == noon - 10min);
}

TEST_CASE("ready pods on cordoned nodes are to be evicted, until a node has been cordoned for too long") {
  kube::Object ending = pod("q-4", "old");
  ending.mutable_metadata()["deletionTimestamp"] = "2026-11-30T12:00:00Z";
  const std::vector<kube::Object> pods{pod("q-0", "new"), pod("q-1", "open"), pod("q-2", "new", false),
                                       pod("q-3", "old"), ending};
  const CordonedNodes cordoned{{"new", noon - 1min}, {"old", noon - 10min}};
  const HeldTwin held = find_held(pods, cordoned, 10min, noon);
  CHECK(held.wanted == PodNames{"q-0"});
  CHECK(held.late == PodNames{"q-3"});
  CHECK(held.node == "old");
  CHECK(held.there == PodNames{"q-0", "q-2", "q-3"});
  CHECK(held.due == noon + 9min);
  CHECK(wanted_by(copy(), pods, held.wanted) == "q-0");
  CHECK(wanted_by(copy("web"), pods, held.wanted) == "");
  CHECK(holds_one(copy(), pods, held.late));
  CHECK(!holds_one(copy("web"), pods, held.late));
  CHECK(find_held(pods, {}, 10min, noon).wanted.empty());
  CHECK(contested({copy(), copy("web")}, pods, held.there).empty());
  CHECK(contested({copy(), copy()}, pods, held.wanted) == PodNames{"q-0"});
}

TEST_CASE("a copy none of whose pods is wanted any more keeps all of them, also if home is away") {
  const std::vector<kube::Object> pods{pod("q-0", "open"), pod("q-1", "open"), pod("q-2", "open", false)};
  kube::Object lent = copy();
  lent.mutable_metadata()["resourceVersion"] = "7";
  CHECK(!wanted_patch(lent, pods, {}));
  const auto asks = wanted_patch(lent, pods, {"q-0"});
  REQUIRE(asks);
  CHECK(kube::string_at(*asks, {"metadata", "annotations", api::annotations::evictions_wanted}) == "q-0");
  CHECK(!asks->contains("spec"));
  lent.set_annotation(api::annotations::evictions_wanted, "q-0");
  CHECK(!wanted_patch(lent, pods, {"q-0"}));
  lent.mutable_spec()["minAvailable"] = 2;
  const auto ends = wanted_patch(lent, pods, {});
  REQUIRE(ends);
  CHECK(kube::int_at(*ends, {"spec", "minAvailable"}) == 3);
  CHECK(kube::string_at(*ends, {"metadata", "resourceVersion"}) == "7");
  lent.mutable_spec()["minAvailable"] = 4;
  CHECK(!wanted_patch(lent, pods, {})->contains("spec"));
}

TEST_CASE("no more than 32 pods are asked for at a time") {
  std::vector<kube::Object> pods;
  PodNames all;
  for (int i = 0; i < 100; ++i) {
    pods.push_back(pod("q-" + std::to_string(i), "new"));
    all.insert("q-" + std::to_string(i));
  }
  const std::string wanted = wanted_by(copy(), pods, all);
  CHECK(std::ranges::count(wanted, ',') == 31);
}

TEST_CASE("only the budgets that home copies hold") {
  CHECK(why_no_copy(copy(), "rome") == "");
  CHECK(why_no_copy(copy(), "florence") != "");
  struct Row {
    std::string_view title;
    void (*change)(kube::Object&);
  };
  for (const Row& row : {
           Row{"no label", [](kube::Object& made) { made.mutable_metadata().erase("labels"); }},
           Row{"a percentage", [](kube::Object& made) { made.mutable_spec()["minAvailable"] = "100%"; }},
           Row{"no number", [](kube::Object& made) { made.mutable_spec().erase("minAvailable"); }},
           Row{"maxUnavailable", [](kube::Object& made) { made.mutable_spec()["maxUnavailable"] = 0; }},
           Row{"keeps the unhealthy",
               [](kube::Object& made) { made.mutable_spec()["unhealthyPodEvictionPolicy"] = "IfHealthyBudget"; }},
           Row{"the default of that",
               [](kube::Object& made) { made.mutable_spec().erase("unhealthyPodEvictionPolicy"); }},
           Row{"no selector", [](kube::Object& made) { made.mutable_spec().erase("selector"); }},
           Row{"stays", [](kube::Object& made) { made.mutable_metadata()["finalizers"] = json::array{"x.io/stay"}; }},
       }) {
    CAPTURE(row.title);
    kube::Object changed = copy();
    row.change(changed);
    CHECK(why_no_copy(changed, "rome") != "");
  }
}

}  // namespace liqo::core
