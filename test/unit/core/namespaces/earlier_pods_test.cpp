// Pods that were there before their namespace was extended.
#include "liqo/core/namespaces/earlier_pods.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using Fate = EarlierPod::Fate;

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
    Fate expected;
  };
  const std::string bound = R"("nodeName": "worker")";
  const std::string gated = gates;
  const std::string tolerates = toleration;
  const char* const liqo_class = R"("runtimeClassName": "liqo")";
  for (const Case& c : std::initializer_list<Case>{
           {"Remote, waits", pod(""), "Remote", "{}", Fate::waits},
           {"Remote, waits, tolerates", pod(tolerates), "Remote", "{}", Fate::waits},
           {"Remote, gated", pod(gated), "Remote", "{}", Fate::adjustable},
           {"Remote, has a node", pod(bound), "Remote", "{}", Fate::placed},
           {"Remote, runs", pod(bound, R"({"phase": "Running"})"), "Remote", "{}", Fate::placed},
           {"Remote, over", pod(bound, R"({"phase": "Succeeded"})"), "Remote", "{}", Fate::as_wanted},
           {"Remote, goes", pod("", "{}", R"({"deletionTimestamp": "2026-11-21T10:00:00Z"})"), "Remote", "{}",
            Fate::as_wanted},
           {"Remote, by its runtime class", pod(liqo_class), "Remote", "{}", Fate::as_wanted},
           {"LocalAndRemote, waits", pod(""), "LocalAndRemote", "{}", Fate::adjustable},
           {"LocalAndRemote, tolerates", pod(tolerates), "LocalAndRemote", "{}", Fate::as_wanted},
           {"LocalAndRemote, has a node", pod(bound), "LocalAndRemote", "{}", Fate::as_wanted},
           {"LocalAndRemote, waits, some clusters", pod(""), "LocalAndRemote", in_europe, Fate::waits},
           {"LocalAndRemote, gated, some clusters", pod(gated), "LocalAndRemote", in_europe, Fate::adjustable},
           {"Local", pod(""), "Local", "{}", Fate::as_wanted}}) {
    CAPTURE(c.title);
    const kube::Object wish = offloading(c.strategy, c.selector);
    const EarlierPod plan = plan_earlier_pod(c.pod, api::NamespaceOffloading(wish));
    CHECK(plan.fate == c.expected);
    CHECK(plan.patch.empty() == (c.expected != Fate::adjustable));
  }
}

TEST_CASE("the patch is for the pod that was seen and nobody else's") {
  const kube::Object wish = offloading("LocalAndRemote");
  const auto patch = plan_earlier_pod(pod(""), api::NamespaceOffloading(wish)).patch;
  REQUIRE(patch.size() == 2);
  CHECK(patch[0] == parse_value(R"({"op": "test", "path": "/metadata/uid", "value": "u1"})"));
  CHECK(kube::string_at(patch[1], {"path"}) == "/spec/tolerations");
}

TEST_CASE("what is told is what is so") {
  using api::PodOffloadingStrategy;
  const auto told = [](EarlierPods pods, PodOffloadingStrategy strategy = PodOffloadingStrategy::remote) {
    return describe_earlier_pods(pods, strategy);
  };
  CHECK(told({}).empty());
  const std::string placed = told({.placed = 2, .waiting = 0});
  CHECK(placed.contains("2 have a node already"));
  CHECK_FALSE(placed.contains("wait"));
  const std::string both = told({.placed = 2, .waiting = 3});
  CHECK(both.contains("2 have a node already, where they stay; 3 wait for a node and may get one of this cluster"));
  CHECK(
      told({.placed = 0, .waiting = 1}, PodOffloadingStrategy::local_and_remote).contains("only one of this cluster"));
}

}  // namespace liqo::core
