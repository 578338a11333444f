// The sentences about a pod of which nothing runs at its provider, and about containers that wait there.
#include "core/offloading/waiting_pod.hpp"

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
  const AskedPod asked{.local = local, .remote = &remote, .provider = "milan"};
  CHECK(why_container_waits(asked, "main") ==
        "container \"main\" of pod shop/web waits at cluster milan: ImagePullBackOff: Back-off pulling image");
  CHECK(why_container_waits(asked, "side") ==
        "container \"side\" of pod shop/web waits at cluster milan: ContainerCreating: "
        "secret \"s\" not found (FailedMount)");
  CHECK(why_container_waits(asked, "bare").ends_with("secret \"s\" not found (FailedMount)"));
  for (const char* other : {"runs", "first", "unknown", ""}) {
    CAPTURE(other);
    CHECK(why_container_waits(asked, other).empty());
  }
  CHECK(why_container_waits({.local = local, .provider = "milan"}, "main").empty());
}

TEST_CASE("of a pod that the provider fills with containers, some are read, and one sentence is made") {
  const kube::Object local = local_pod();
  kube::Object remote = placed("{}");
  json::array statuses;
  for (int i = 0; i < 1000; ++i) {
    json::value status = parse_value(R"({"state": {"waiting": {"reason": "Mine"}}})");
    status.as_object()["name"] = "c" + std::to_string(i);
    status.as_object()["state"].as_object()["waiting"].as_object()["message"] = std::string(5000, 'x');
    statuses.push_back(std::move(status));
  }
  remote.mutable_status()["containerStatuses"] = std::move(statuses);
  const AskedPod asked{.local = local, .remote = &remote, .provider = "milan"};
  const std::string why = find_obstacles(asked, "c499").waiting;
  CHECK(why.starts_with("container \"c499\""));
  CHECK(why.size() < 1200);
  CHECK(find_obstacles(asked, "c500").waiting.empty());
}

TEST_CASE("what stands in the way of asking the provider about a container") {
  const kube::Object remote = placed(R"({"containerStatuses": [{"name": "slow", "state": {"waiting": {}}}]})");
  const kube::Object local = local_pod(R"({"ephemeralContainerStatuses": [
    {"name": "debugger", "state": {"terminated": {"reason": "OffloadingRefused", "message": "not run here"}}}]})");
  const AskedPod runs{.local = local, .remote = &remote, .provider = "milan"};
  CHECK(find_obstacles(runs, "main").pod.empty());
  CHECK(find_obstacles(runs, "main").refused.empty());
  CHECK(find_obstacles(runs, "main").waiting.empty());
  CHECK(find_obstacles(runs, "debugger").refused == "not run here");
  CHECK(find_obstacles(runs, "slow").refused.empty());
  CHECK(find_obstacles(runs, "slow").waiting.starts_with("container \"slow\""));
  CHECK(find_obstacles(runs, "").pod.empty());

  const AskedPod absent{.local = local, .provider = "milan"};
  CHECK(find_obstacles(absent, "main").pod.ends_with("it has not been created there yet"));
  const AskedPod unknown{.local = local, .provider = "milan", .is_remote_known = false};
  CHECK(find_obstacles(unknown, "main").pod.empty());

  const AskedPod without_twin{.local = local, .provider = "milan", .has_twin = false, .is_remote_known = false};
  CHECK(find_obstacles(without_twin, "").pod == "not run here");
  const kube::Object silent = local_pod();
  const AskedPod unreachable{.local = silent, .provider = "milan", .has_twin = false, .is_remote_known = false};
  CHECK(find_obstacles(unreachable, "main").pod.contains("has no twin at cluster milan"));
}

}  // namespace liqo::core
