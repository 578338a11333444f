// What is said of a pod of which nothing runs at its provider, and of containers that wait there.
#include "liqo/core/offloading/waiting_pod.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;

kube::Object placed(std::string_view status) {
  kube::Object pod = reflected("Pod", "r1", "u1", status);
  pod.mutable_spec()["nodeName"] = "worker";
  return pod;
}

}  // namespace

TEST_CASE("a pod of which the provider has nothing says why, by what its status at home shows") {
  struct {
    const char* what;
    const char* status;
    std::string why;
  } const cases[] = {
      {"nothing is known", "{}", "it has not been created there yet"},
      {"refused",
       R"({"phase": "Pending", "conditions": [{"type": "offloading.liqo.io/Offloaded", "status": "False",
          "reason": "OffloadingRefused", "message": "cluster milan refuses the pod: hostPath is not allowed"}]})",
       "hostPath is not allowed"},
      {"another cluster's words stay whole",
       R"({"conditions": [{"type": "offloading.liqo.io/Offloaded", "status": "False",
          "message": "cluster turin refuses the pod: no"}]})",
       "cluster turin refuses the pod: no"},
      {"a condition that is true says nothing against it",
       R"({"conditions": [{"type": "offloading.liqo.io/Offloaded", "status": "True", "message": "fine"}]})",
       "it has not been created there yet"},
      {"without a twin", R"({"reason": "OffloadingBackOff", "message": "Namespace shop has no twin in cluster milan"})",
       "Namespace shop has no twin in cluster milan"},
      {"it has run", R"({"phase": "Running"})", "it is not there any more"},
      {"ended", R"({"phase": "Failed", "reason": "RemoteLost", "message": "it is lost"})",
       "it has ended (Failed): it is lost"},
      {"ended without words", R"({"phase": "Succeeded"})", "it has ended (Succeeded)"},
      {"lines and marks", R"({"message": "a\n\u001b[2Jb"})", "a [2Jb"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.what);
    const kube::Object local = local_pod(each.status);
    CHECK(why_nothing_runs({.local = local, .provider = "milan"}) ==
          "pod shop/web does not run at cluster milan: " + each.why);
  }
  const kube::Object ending = local_pod("{}", "{}", R"({"deletionTimestamp": "2026-11-21T10:00:00Z"})");
  CHECK(why_nothing_runs({.local = ending, .provider = "milan"}).ends_with(": it is being deleted"));
  const kube::Object endless = local_pod(R"({"message": ")" + std::string(100'000, 'm') + R"("})");
  CHECK(why_nothing_runs({.local = endless, .provider = "milan"}).size() < 1100);
}

TEST_CASE("without a twin that is what is said, unless the status at home says more") {
  const auto why = [](std::string_view status) {
    const kube::Object local = local_pod(status);
    return why_nothing_runs({.local = local, .provider = "milan", .has_twin = false});
  };
  const std::string unreachable =
      "namespace shop has no twin at cluster milan, so that pod web cannot be reached there";
  CHECK(why("{}") == unreachable);
  CHECK(why(R"({"phase": "Running"})") == unreachable);
  CHECK(why(R"({"phase": "Running", "conditions": [{"type": "offloading.liqo.io/Offloaded", "status": "False",
      "message": "the twin is kept"}]})") == "pod shop/web does not run at cluster milan: the twin is kept");
  CHECK(why(R"({"phase": "Failed"})").ends_with("it has ended (Failed)"));
}

TEST_CASE("what the provider has for another pod of the name does not run this one") {
  const kube::Object local = local_pod(), other = reflected("Pod", "r1", "u0", "{}");
  CHECK(why_nothing_runs({.local = local, .remote = &other, .provider = "milan"})
            .ends_with("it has not been created there yet"));
}

TEST_CASE("a pod that has no node at the provider says why, and one that has may run") {
  const char* const full = R"({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
    "message": "0/1 nodes are available: 1 Insufficient cpu."}]})";
  const kube::Object local = local_pod(), waits = reflected("Pod", "r1", "u1", full), runs = placed("{}");
  CHECK(why_nothing_runs({.local = local, .remote = &waits, .provider = "milan"}) ==
        "pod shop/web does not run at cluster milan: 0/1 nodes are available: 1 Insufficient cpu.");
  const kube::Object silent = reflected("Pod", "r1", "u1", "{}");
  CHECK(why_nothing_runs({.local = local, .remote = &silent, .provider = "milan"}).ends_with("no node there yet"));
  CHECK(why_nothing_runs({.local = local, .remote = &runs, .provider = "milan"}).empty());
}

TEST_CASE("a container that waits says for what") {
  const kube::Object local =
      local_pod(R"json({"conditions": [{"type": "offloading.liqo.io/Offloaded", "status": "False",
    "message": "the pod is not ready in cluster milan: secret \"s\" not found (FailedMount)"}]
})json");
  const kube::Object remote = placed(R"({"containerStatuses": [
      {"name": "main", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}},
      {"name": "side", "state": {"waiting": {"reason": "ContainerCreating"}}},
      {"name": "runs", "state": {"running": {}}},
      {"name": "bare", "state": {"waiting": {}}},
      {"name": "", "state": {"waiting": {}}}, 7],
    "initContainerStatuses": [{"name": "first", "state": {"terminated": {}}}]})");
  const auto waiting = waiting_containers({.local = local, .remote = &remote, .provider = "milan"});
  REQUIRE(waiting.size() == 3);
  CHECK(waiting.at("main") ==
        "container \"main\" of pod shop/web waits at cluster milan: ImagePullBackOff: Back-off pulling image");
  CHECK(waiting.at("side") ==
        "container \"side\" of pod shop/web waits at cluster milan: ContainerCreating: "
        "secret \"s\" not found (FailedMount)");
  CHECK(waiting.at("bare").ends_with("secret \"s\" not found (FailedMount)"));
  CHECK(waiting_containers({.local = local, .provider = "milan"}).empty());
}

}  // namespace liqo::core
