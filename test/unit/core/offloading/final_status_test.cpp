// How a pod ends of which nothing more will be heard, and whom a finalizer makes wait.
#include "core/offloading/final_status.hpp"

#include "../objects.hpp"
#include "core/offloading/pod_plan.hpp"
#include "kube/k8s/condition.hpp"

namespace liqo::core {
namespace {

using namespace testing;

constexpr std::string_view tracked = R"({"finalizers": ["batch.kubernetes.io/job-tracking"]})";

std::string statuses(std::string_view first, std::string_view second = "") {
  std::string text = R"({"phase": "Running", "containerStatuses": [{"name": "main", "ready": true, "state": )";
  text.append(first).append("}");
  if (!second.empty()) text.append(R"(, {"name": "side", "ready": true, "state": )").append(second).append("}");
  return text + "]}";
}

constexpr std::string_view two = R"({"containers": [{"name": "main", "image": "a"}, {"name": "side", "image": "b"}]})";
constexpr std::string_view running = R"({"running": {"startedAt": "2026-11-21T09:00:00Z"}})";
constexpr std::string_view well = R"({"terminated": {"exitCode": 0, "reason": "Completed"}})";
constexpr std::string_view badly = R"({"terminated": {"exitCode": 3, "reason": "Error"}})";

/// The exit codes of its containers, as "0 137"; "-" for one that has not ended.
std::string codes(const WantedStatus& wanted) {
  std::string text;
  for (const json::value& status : kube::array_at(wanted.status, {"containerStatuses"})) {
    if (!text.empty()) text += " ";
    text += kube::find(status, {"state", "terminated"})
                ? std::to_string(kube::int_at(status, {"state", "terminated", "exitCode"}))
                : "-";
  }
  return text;
}

bool is_disrupted(const WantedStatus& wanted) {
  const json::object* condition = kube::find_condition(wanted.status, "DisruptionTarget");
  return condition && kube::string_at(*condition, {"status"}) == "True";
}

}  // namespace

TEST_CASE("a pod that is removed ends as its containers are known to have ended, and else as kubelets say it") {
  struct Case {
    const char* title;
    std::string status;
    bool may_have_run;
    const char *phase, *reason, *codes;
    bool disrupted;
  };
  const std::string waits =
      R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}],
          "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}]})";
  const std::vector<Case> cases = {
      {"all have ended well", statuses(well, well), true, "Succeeded", "", "0 0", false},
      {"one has failed", statuses(well, badly), true, "Failed", "", "0 3", false},
      {"one runs", statuses(well, running), true, "Failed", "RemotePodTerminated", "0 137", true},
      {"one runs, one has failed", statuses(badly, running), true, "Failed", "RemotePodTerminated", "3 137", true},
      {"of one nothing is known", statuses(well), true, "Failed", "RemotePodTerminated", "0 137", true},
      {"nothing was told, and it may have run", R"({"phase": "Pending"})", true, "Failed", "RemotePodTerminated",
       "137 137", true},
      {"it waits", R"({"phase": "Pending"})", false, "Failed", "OffloadingAborted", "", true},
      {"no status at all", "{}", false, "Failed", "OffloadingAborted", "", true},
      {"its container waits", waits, false, "Failed", "OffloadingAborted", "-", true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const kube::Object local = local_pod(c.status, two, tracked);
    const WantedStatus wanted = forge_final_status(local, c.may_have_run, at());
    CHECK(kube::string_at(wanted.status, {"phase"}) == c.phase);
    CHECK(kube::string_at(wanted.status, {"reason"}) == c.reason);
    CHECK(codes(wanted) == c.codes);
    CHECK(is_disrupted(wanted) == c.disrupted);
    for (const json::value& status : kube::array_at(wanted.status, {"containerStatuses"}))
      CHECK_FALSE(kube::bool_at(status, {"ready"}));
    CHECK(status_patch(local, wanted));
  }
  const auto unknown = forge_final_status(local_pod(statuses(running, running), two), true, at());
  const json::value& status = kube::array_at(unknown.status, {"containerStatuses"})[0];
  CHECK(kube::string_at(status, {"state", "terminated", "reason"}) == "ContainerStatusUnknown");
  CHECK(kube::string_at(status, {"state", "terminated", "startedAt"}) == "2026-11-21T09:00:00Z");
  CHECK(kube::string_at(status, {"state", "terminated", "finishedAt"}) == "2026-11-21T10:00:00Z");
}

TEST_CASE("whether a pod may have run: what home shows, what was seen, and else what home was told of") {
  const auto pending = local_pod(R"({"phase": "Pending"})");
  const auto told = local_pod(R"({"phase": "Pending"})", "{}", R"({"annotations":
    {"offloading.liqo.io/remote-pod-uid": "r1"}})");
  const auto has_run = [](const kube::Object& pod, const PodMemory& memory = {}) { return may_have_run(pod, memory); };
  // An earlier process may have ordered it.
  CHECK(has_run(pending));
  CHECK_FALSE(has_run(pending, {.ours_alone = true}));
  CHECK(has_run(pending, {.sent = true, .ours_alone = true}));
  CHECK(has_run(local_pod(R"({"phase": "Running"})")));
  CHECK(has_run(local_pod(statuses(well))));
  CHECK(has_run(pending, {.remote_started = true}));
  CHECK(has_run(pending, {.remote_placed = true}));
  CHECK_FALSE(has_run(pending, {.remote_placed = false}));
  CHECK(has_run(told));
  CHECK(has_run(told, {.remote_placed = true}));
  CHECK_FALSE(has_run(told, {.remote_placed = false}));
  CHECK_FALSE(has_run(pending, {.remote_placed = false, .sent = true}));
  const auto waiting = local_pod(R"({"phase": "Pending", "reason": "OffloadingBackOff"})");
  CHECK_FALSE(has_run(waiting));
  CHECK(has_run(waiting, {.sent = true}));
  const auto refused = local_pod(R"({"phase": "Pending", "conditions": [{"type": "offloading.liqo.io/Offloaded",
    "status": "False", "reason": "OffloadingRefused", "message": "cluster milan refuses the pod: no room"}]})");
  CHECK_FALSE(has_run(refused));
  CHECK(has_run(refused, {.sent = true}));
}

TEST_CASE("only a pod with finalizers of others waits for its phase, and is waited for until then") {
  struct Case {
    std::string_view phase, metadata;
    bool needs_phase, is_held;
  };
  constexpr std::string_view removed = R"({"finalizers": ["example.com/a"], "deletionGracePeriodSeconds": 0,
    "deletionTimestamp": "2026-11-21T09:59:00Z"})";
  constexpr std::string_view ending = R"({"finalizers": ["example.com/a"], "deletionGracePeriodSeconds": 30,
    "deletionTimestamp": "2026-11-21T09:59:00Z"})";
  const std::vector<Case> cases = {
      {"Running", "{}", false, false},
      {"Failed", "{}", false, false},
      {"Running", tracked, true, false},
      {"", tracked, true, false},
      {"Succeeded", tracked, false, false},
      {"Running", removed, true, false},
      {"Failed", removed, false, true},
      {"Succeeded", removed, false, true},
      {"Failed", ending, false, false},
      {"Failed", R"({"deletionGracePeriodSeconds": 0})", false, false},
      {"Pending", R"({"finalizers": []})", false, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.phase);
    CAPTURE(c.metadata);
    const auto pod = local_pod(R"({"phase": ")" + std::string(c.phase) + R"("})", "{}", c.metadata);
    CHECK(needs_final_phase(pod) == c.needs_phase);
    CHECK(is_only_held(pod) == c.is_held);
  }
}

}  // namespace liqo::core
