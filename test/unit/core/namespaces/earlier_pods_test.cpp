// Pods that were there before their namespace was extended.
#include "core/namespaces/earlier_pods.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace earlier_pod_action;

const EarlierPodPlan keep = Keep{}, patch = Patch{}, wait = LeaveWaiting{}, placed = LeavePlaced{};

const char* const toleration =
    R"("tolerations": [{"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists", "effect": "NoExecute"}])";
const char* const gates = R"("schedulingGates": [{"name": "example.com/later"}])";
const char* const in_europe = R"({"nodeSelectorTerms": [{"matchExpressions": [{"key": "region", "operator": "In",
    "values": ["europe"]}]}]})";

kube::Object offloading(std::string_view strategy, std::string_view selector = "{}") {
  kube::Object object = parse(R"({"metadata": {"name": "offloading", "namespace": "shop"}})");
  object.mutable_spec()["podOffloadingStrategy"] = strategy;
  object.mutable_spec()["clusterSelector"] = parse_value(selector);
  return object;
}
/// A pod that has these fields of its spec, and no node unless they say so.
kube::Object pod(const std::string& spec, std::string_view status = R"({"phase": "Pending"})",
                 std::string_view metadata = "{}") {
  kube::Object made = local_pod(status, "{" + spec + "}", metadata);
  if (!spec.contains("nodeName")) made.mutable_spec().erase("nodeName");
  return made;
}

}  // namespace

TEST_CASE("what can still be done about a pod that was there before is done") {
  struct Case {
    const char* title;
    kube::Object pod;
    const char* strategy;
    const char* selector;
    EarlierPodPlan expected;
  };
  const std::string bound = R"("nodeName": "worker")";
  const std::string gated = gates;
  const std::string tolerates = toleration;
  const char* const liqo_class = R"("runtimeClassName": "liqo")";
  for (const Case& c : std::initializer_list<Case>{
           {"Remote, waits", pod(""), "Remote", "{}", wait},
           {"Remote, waits, tolerates", pod(tolerates), "Remote", "{}", wait},
           {"Remote, gated", pod(gated), "Remote", "{}", patch},
           {"Remote, has a node", pod(bound), "Remote", "{}", placed},
           {"Remote, runs", pod(bound, R"({"phase": "Running"})"), "Remote", "{}", placed},
           {"Remote, over", pod(bound, R"({"phase": "Succeeded"})"), "Remote", "{}", keep},
           {"Remote, goes", pod("", "{}", R"({"deletionTimestamp": "2026-11-21T10:00:00Z"})"), "Remote", "{}", keep},
           {"Remote, by its runtime class", pod(liqo_class), "Remote", "{}", keep},
           {"LocalAndRemote, waits", pod(""), "LocalAndRemote", "{}", patch},
           {"LocalAndRemote, tolerates", pod(tolerates), "LocalAndRemote", "{}", keep},
           {"LocalAndRemote, has a node", pod(bound), "LocalAndRemote", "{}", keep},
           {"LocalAndRemote, waits, some clusters", pod(""), "LocalAndRemote", in_europe, wait},
           {"LocalAndRemote, gated, some clusters", pod(gated), "LocalAndRemote", in_europe, patch},
           {"Local", pod(""), "Local", "{}", keep}}) {
    CAPTURE(c.title);
    const kube::Object wish = offloading(c.strategy, c.selector);
    const EarlierPodPlan plan = plan_earlier_pod(c.pod, api::NamespaceOffloading(wish));
    CHECK(plan.index() == c.expected.index());
    if (const auto* change = std::get_if<Patch>(&plan)) CHECK_FALSE(change->steps.empty());
  }
}

TEST_CASE("the patch is for the pod that was seen and nobody else's") {
  const kube::Object wish = offloading("LocalAndRemote");
  const EarlierPodPlan plan = plan_earlier_pod(pod(""), api::NamespaceOffloading(wish));
  REQUIRE(std::holds_alternative<Patch>(plan));
  const json::array& steps = std::get<Patch>(plan).steps;
  REQUIRE(steps.size() == 2);
  CHECK(steps[0] == parse_value(R"({"op": "test", "path": "/metadata/uid", "value": "u1"})"));
  CHECK(kube::string_at(steps[1], {"path"}) == "/spec/tolerations");
}

TEST_CASE("what is told is what is so") {
  using api::PodOffloadingStrategy;
  const auto told = [](EarlierPods pods, PodOffloadingStrategy strategy = PodOffloadingStrategy::remote) {
    return describe_earlier_pods(pods, strategy);
  };
  CHECK(told({}).empty());
  const std::string of_placed = told({.placed = 2, .waiting = 0});
  CHECK(of_placed.contains("2 have a node already"));
  CHECK_FALSE(of_placed.contains("wait"));
  const std::string both = told({.placed = 2, .waiting = 3});
  CHECK(both.contains("2 have a node already, where they stay; 3 wait for a node and may get one of this cluster"));
  CHECK(
      told({.placed = 0, .waiting = 1}, PodOffloadingStrategy::local_and_remote).contains("only one of this cluster"));
}

}  // namespace liqo::core
