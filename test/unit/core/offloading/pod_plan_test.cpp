// The decision about one pod, case by case: what exists on which side, and what is done.
#include "core/offloading/pod_plan.hpp"

#include <limits>
#include <map>

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace pod_action;

const char* const ran_and_ended = R"({"phase": "Running", "containerStatuses": [{"name": "main",
  "state": {"terminated": {"exitCode": 3}}}]})";

std::string name_of(const PodPlan& plan) {
  constexpr const char* names[] = {"Nothing",    "RefuseForeign", "AwaitShadow", "AwaitOrder",        "CreateShadow",
                                   "KeepShadow", "SendGrace",     "AwaitEnding", "DeleteShadow",      "RemoveLocal",
                                   "EvictLocal", "Reject",        "FailLocal",   "RefuseNodeDebugger"};
  return std::string(names[plan.action.index()]) + (plan.copy_status ? "+status" : "");
}

kube::Object shadow(std::string_view local_uid = "u1", std::string_view phase = "Running", bool deleting = false) {
  return reflected("ShadowPod", "s1", local_uid, R"({"phase": ")" + std::string(phase) + R"("})", deleting);
}
kube::Object remote(std::string_view local_uid = "u1", std::string_view phase = "Running", bool deleting = false) {
  return reflected("Pod", "r1", local_uid, R"({"phase": ")" + std::string(phase) + R"("})", deleting);
}
kube::Object foreign(std::string_view kind) {
  kube::Object object = reflected(kind, "f1", "");
  object.mutable_metadata().erase("labels");
  return object;
}

kube::Object deleting(kube::Object pod) {
  pod.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  return pod;
}

/// A pod that kubectl has created to debug its node.
kube::Object node_debugger(std::string_view status = "{}", std::string_view spec = R"({"hostPID": true})") {
  return local_pod(status, spec, R"({"name": "node-debugger-milan-1",
    "labels": {"app.kubernetes.io/managed-by": "kubectl-debug"}})");
}

struct Case {
  const char* title;
  std::optional<kube::Object> local, shadow, remote;
  const char* expected;
  PodMemory memory = {};
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const auto pointer = [](const std::optional<kube::Object>& object) { return object ? &*object : nullptr; };
    CHECK(name_of(plan_pod({pointer(c.local), pointer(c.shadow), pointer(c.remote)}, c.memory, context())) ==
          c.expected);
  }
}

}  // namespace

TEST_CASE("without a local pod only our own ShadowPod is removed, after a look at the live pod") {
  kube::Object of_other_node = shadow();
  of_other_node.set_label("offloading.liqo.io/nodename", "turin");
  check({{"ours", {}, shadow(), {}, "DeleteShadow"},
         {"ours, with its pod", {}, shadow(), remote(), "DeleteShadow"},
         {"going already", {}, shadow("u1", "Running", true), {}, "Nothing"},
         {"nothing there", {}, {}, {}, "Nothing"},
         {"only its pod is left", {}, {}, remote(), "Nothing"},
         {"of another virtual node", {}, of_other_node, {}, "Nothing"},
         {"foreign", {}, foreign("ShadowPod"), {}, "Nothing"}});
  const kube::Object ours = shadow();
  const auto plan = plan_pod({nullptr, &ours, nullptr}, {}, context());
  const auto& removal = std::get<DeleteShadow>(plan.action);
  CHECK(removal.uid == "s1");
  CHECK(removal.confirm_first);
  CHECK(removal.owner_uid == "u1");
}

TEST_CASE("a pod that is to run has a ShadowPod") {
  const auto pending = local_pod(R"({"phase": "Pending"})");
  check({{"new", pending, {}, {}, "CreateShadow+status"},
         {"no status yet", local_pod(), {}, {}, "CreateShadow+status"},
         {"created, not seen yet", pending, {}, {}, "AwaitShadow", {.shadow_created = true}},
         {"seen", pending, shadow(), {}, "KeepShadow+status"},
         {"running", local_pod(R"({"phase": "Running"})"), shadow(), remote(), "KeepShadow+status"},
         {"ShadowPod of the Go version", pending, shadow(""), remote(""), "KeepShadow+status"},
         {"rejected earlier, mapped now",
          local_pod(R"({"phase": "Pending", "reason": "OffloadingBackOff"})"),
          {},
          {},
          "CreateShadow+status"},
         {"ShadowPod deleted by somebody", pending, shadow("u1", "Running", true), remote(), "Nothing+status"},
         {"ShadowPod gone, its pod still going", pending, {}, remote("u1", "Running", true), "Nothing+status"},
         {"ShadowPod finished, its pod gone", pending, shadow("u1", "Succeeded"), {}, "Nothing+status"}});
}

TEST_CASE("objects of others are left alone and told") {
  const auto pending = local_pod(R"({"phase": "Pending"})");
  check({{"foreign ShadowPod", pending, foreign("ShadowPod"), {}, "RefuseForeign"},
         {"foreign pod", pending, {}, foreign("Pod"), "RefuseForeign"},
         {"foreign pod under our ShadowPod", pending, shadow(), foreign("Pod"), "RefuseForeign"},
         {"foreign, no local pod", {}, {}, foreign("Pod"), "Nothing"},
         {"foreign, finished", local_pod(R"({"phase": "Succeeded"})"), foreign("ShadowPod"), {}, "Nothing"},
         {"foreign, terminating", deleting(pending), foreign("ShadowPod"), {}, "RemoveLocal"},
         {"foreign pod, our ShadowPod, terminating", deleting(pending), shadow(), foreign("Pod"),
          "DeleteShadow+status"}});
}

TEST_CASE("the identity of a pod is its UID") {
  const auto pending = local_pod(R"({"phase": "Pending"})");
  check({{"ShadowPod of a predecessor", pending, shadow("u0"), remote("u0"), "DeleteShadow"},
         {"it is going", pending, shadow("u0", "Running", true), remote("u0", "Running", true), "Nothing"},
         {"only the predecessor's pod is left", pending, {}, remote("u0", "Running", true), "Nothing"},
         {"all gone", pending, {}, {}, "CreateShadow+status"},
         {"a finished predecessor", pending, shadow("u0", "Succeeded"), remote("u0", "Succeeded"), "DeleteShadow"},
         {"terminating, with a predecessor's rest", deleting(pending), shadow("u0"), remote("u0"), "RemoveLocal"}});
  const kube::Object other = shadow("u2");
  const auto plan = plan_pod({&pending, &other, nullptr}, {}, context());
  const auto& removal = std::get<DeleteShadow>(plan.action);
  CHECK(removal.confirm_first);
  CHECK(removal.owner_uid == "u2");
}

TEST_CASE("a terminating pod goes when nothing of it is left at the provider") {
  const auto going = deleting(local_pod(R"({"phase": "Running"})"));
  check({{"nothing left", going, {}, {}, "RemoveLocal"},
         {"ShadowPod alive", going, shadow(), {}, "DeleteShadow+status"},
         {"ShadowPod going", going, shadow("u1", "Running", true), remote(), "Nothing+status"},
         {"only its pod left", going, {}, remote(), "Nothing+status"},
         {"ShadowPod created a moment ago", going, {}, {}, "AwaitShadow", {.shadow_created = true}},
         {"finished before", deleting(local_pod(R"({"phase": "Succeeded"})")), shadow("u1", "Succeeded"), remote(),
          "DeleteShadow+status"}});
  // What others hold of it by finalizers is not removed a second time.
  const auto held = [](std::string_view phase, int grace) {
    kube::Object pod = deleting(local_pod(R"({"phase": ")" + std::string(phase) + R"("})"));
    pod.mutable_metadata()["deletionGracePeriodSeconds"] = grace;
    pod.mutable_metadata()["finalizers"] = json::array{"batch.kubernetes.io/job-tracking"};
    return pod;
  };
  check({{"held, with time left", held("Failed", 30), {}, {}, "RemoveLocal"},
         {"held, and its phase is not final", held("Running", 0), {}, {}, "RemoveLocal"},
         {"removed and held", held("Failed", 0), {}, {}, "Nothing"},
         {"removed and held, ShadowPod alive", held("Failed", 0), shadow(), {}, "DeleteShadow+status"}});
  CHECK(plan_unmapped_pod(held("Running", 0), "", false) == UnmappedPodPlan::remove_local);
  CHECK(plan_unmapped_pod(held("Failed", 0), "", false) == UnmappedPodPlan::nothing);
}

TEST_CASE("what has ended at the provider and is only held there holds nothing at home") {
  const auto held = [](const char* phase, bool bound = true) {
    kube::Object pod = remote("u1", phase, true);
    if (bound) pod.mutable_spec()["nodeName"] = "worker";
    return pod;
  };
  kube::Object alive = remote("u1", "Succeeded");
  alive.mutable_spec()["nodeName"] = "worker";
  const auto running = deleting(local_pod(R"({"phase": "Running"})"));
  const auto ended = deleting(local_pod(R"({"phase": "Succeeded"})"));
  check({{"it runs", running, {}, held("Running"), "Nothing+status"},
         {"it has ended, which is not told yet", running, {}, held("Succeeded"), "Nothing+status"},
         {"it has ended", ended, {}, held("Succeeded"), "RemoveLocal"},
         {"home has ended otherwise",
          deleting(local_pod(R"({"phase": "Failed"})")),
          {},
          held("Succeeded"),
          "RemoveLocal"},
         {"it is not being deleted", ended, {}, alive, "Nothing+status"},
         {"it never had a node", running, {}, held("Pending", false), "RemoveLocal"},
         {"its ShadowPod is there", ended, shadow("u1", "Succeeded", true), held("Succeeded"), "Nothing+status"},
         {"a ShadowPod created a moment ago", ended, {}, held("Succeeded"), "AwaitShadow", {.shadow_created = true}}});
}

TEST_CASE("a pod whose remote pod does not end is deleted at home, once and with its grace time") {
  const auto ending = [](std::string_view phase, std::int64_t grace, std::string_view finalizer = "") {
    kube::Object pod = remote("u1", phase, true);
    pod.mutable_spec()["nodeName"] = "worker";
    pod.mutable_metadata()["deletionGracePeriodSeconds"] = grace;
    if (!finalizer.empty()) pod.mutable_metadata()["finalizers"] = json::array{json::string(finalizer)};
    return pod;
  };
  const auto for_seconds = [](int seconds) {
    PodMemory memory;
    memory.remote_ending_for = std::chrono::seconds(seconds);
    return memory;
  };
  const auto running = local_pod(R"({"phase": "Running"})");
  const auto job = local_pod(R"({"phase": "Running"})", R"({"restartPolicy": "Never"})");
  kube::Object of_another = ending("Running", 30);
  of_another.set_annotation("offloading.liqo.io/local-pod-uid", "u0");
  kube::Object unbound = ending("Pending", 30);
  unbound.mutable_spec().erase("nodeName");
  const char* const tracking = "shadowpod.offloading.liqo.io/tracking";
  check({
      {"just told to end", running, shadow(), ending("Running", 30), "KeepShadow+status", for_seconds(0)},
      {"in its grace time", running, shadow(), ending("Running", 300), "KeepShadow+status", for_seconds(100)},
      {"a minute after it, less a second", running, shadow(), ending("Running", 30), "KeepShadow+status",
       for_seconds(89)},
      {"a minute after it", running, shadow(), ending("Running", 30), "EvictLocal+status", for_seconds(90)},
      {"a Job's", job, shadow(), ending("Running", 30), "EvictLocal+status", for_seconds(90)},
      {"its ShadowPod is gone", running, {}, ending("Running", 30), "EvictLocal+status", for_seconds(90)},
      {"deleted at home already", deleting(running), shadow("u1", "Running", true), ending("Running", 30),
       "Nothing+status", for_seconds(900)},
      {"of another pod of this name", running, shadow(), of_another, "KeepShadow+status", for_seconds(900)},
      {"ended, and held by somebody", running, shadow(), ending("Failed", 30, "example.com/held"), "EvictLocal+status",
       for_seconds(90)},
      {"ended, and held for our record", running, shadow(), ending("Failed", 30, tracking), "KeepShadow+status",
       for_seconds(900)},
      {"running, and held for our record", job, shadow(), ending("Running", 30, tracking), "EvictLocal+status",
       for_seconds(90)},
      {"a grace time of no sense", running, shadow(), ending("Running", -5), "EvictLocal+status", for_seconds(60)},
      {"a grace time without end", running, shadow(), ending("Running", std::numeric_limits<std::int64_t>::max()),
       "KeepShadow+status", for_seconds(100'000)},
  });
  const kube::Object order = shadow(), stuck = ending("Running", 30);
  const auto plan = plan_pod({&running, &order, &stuck}, for_seconds(90), context());
  CHECK(std::get<EvictLocal>(plan.action).uid == "u1");
  CHECK(std::get<EvictLocal>(plan.action).remote_uid == "r1");
}

TEST_CASE("a pod of a withdrawn namespace stays at home until nothing of it is left at the provider") {
  const auto plan_of = [](const std::optional<kube::Object>& local, const std::optional<kube::Object>& order,
                          const std::optional<kube::Object>& pod, const PodMemory& memory = {}) {
    return name_of(plan_withdrawn_pod({local ? &*local : nullptr, order ? &*order : nullptr, pod ? &*pod : nullptr},
                                      memory, context()));
  };
  const auto running = local_pod(R"({"phase": "Running"})");
  const auto pending = local_pod(R"({"phase": "Pending"})");
  CHECK(plan_of(running, shadow(), remote()) == "Nothing+status");
  CHECK(plan_of(running, shadow(), remote("u1", "Running", true)) == "Nothing+status");
  CHECK(plan_of(running, {}, remote("u1", "Running", true)) == "Nothing+status");
  CHECK(plan_of(running, shadow("u1", "Running", true), {}) == "Nothing+status");
  CHECK(plan_of(running, {}, {}) == "Reject");
  CHECK(plan_of(pending, {}, {}) == "Reject");
  CHECK(plan_of(pending, {}, {}, {.shadow_created = true}) == "AwaitShadow");
  CHECK(plan_of(pending, {}, {}, {.order_in_doubt = true}) == "AwaitOrder");
  CHECK(plan_of(pending, shadow("u0"), remote("u0")) == "Reject");
  CHECK(plan_of(pending, foreign("ShadowPod"), {}) == "Reject");
  CHECK(plan_of(local_pod(R"({"phase": "Succeeded"})"), shadow(), remote()) == "Nothing");
  CHECK(plan_of({}, shadow(), remote()) == "Nothing");
  const auto going = deleting(running);
  CHECK(plan_of(going, shadow(), remote()) == "DeleteShadow+status");
  kube::Object stopping = remote("u1", "Running", true);
  stopping.mutable_spec()["nodeName"] = "worker";
  CHECK(plan_of(going, {}, stopping) == "Nothing+status");
  CHECK(plan_of(going, {}, {}) == "RemoveLocal");
}

TEST_CASE("while an order may still be carried out, the name at the provider stays taken") {
  const auto pending = local_pod(R"({"phase": "Pending"})");
  const auto going = deleting(pending);
  const auto done = local_pod(R"({"phase": "Failed", "reason": "SomeOtherReason"})");
  const PodMemory doubt{.order_in_doubt = true};
  check({{"it is tried again", pending, {}, {}, "CreateShadow+status", doubt},
         {"it came into being", pending, shadow(), remote(), "KeepShadow+status", doubt},
         {"terminating, nothing seen", going, {}, {}, "AwaitOrder+status", doubt},
         {"terminating, alive", going, shadow(), remote(), "AwaitOrder+status", doubt},
         {"terminating, going already", going, shadow("u1", "Running", true), remote(), "Nothing+status", doubt},
         {"ended at home while it runs there", done, shadow(), remote(), "AwaitOrder", doubt},
         {"ended at home, nothing there", done, {}, {}, "Nothing", doubt}});
}

TEST_CASE("an order that came late is not wanted any more where the pod has run") {
  kube::Object late = shadow("u1", "Unknown");
  late.mutable_metadata()["creationTimestamp"] = "2026-11-21T10:00:00Z";
  late.set_annotation("offloading.liqo.io/ordered-at", "2026-11-21T09:50:00Z");
  const auto never = R"({"restartPolicy": "Never"})";
  const auto running = R"({"phase": "Running"})";
  check({{"ran", local_pod(running, never), late, {}, "FailLocal"},
         {"ran, and restarts", local_pod(running), late, {}, "KeepShadow+status"},
         {"did not run", local_pod("{}", never), late, {}, "KeepShadow+status"},
         {"runs by a provider that does not wait", local_pod(running, never), late, remote(), "KeepShadow+status"},
         {"was seen to run there", local_pod("{}", never), late, {}, "FailLocal", {.remote_started = true}},
         {"ran, in time", local_pod(running, never), shadow("u1", "Unknown"), {}, "KeepShadow+status"}});
}

TEST_CASE("the steps on the way to Running are not told one by one") {
  struct StartCase {
    const char *title, *local, *remote;
    int known_for, expected;  ///< milliseconds
  };
  const char* const creating = R"({"phase": "Pending", "containerStatuses": [{"name": "main",
    "state": {"waiting": {"reason": "ContainerCreating"}}}]})";
  const char* const initialising = R"({"phase": "Pending", "initContainerStatuses": [{"name": "init",
    "state": {"running": {}}}]})";
  const char* const pulling_failed = R"({"phase": "Pending", "containerStatuses": [{"name": "main",
    "state": {"waiting": {"reason": "ImagePullBackOff"}}}]})";
  const char* const unschedulable = R"({"phase": "Pending", "conditions": [{"type": "PodScheduled",
    "status": "False", "reason": "Unschedulable"}]})";
  const char* const pending = R"({"phase": "Pending"})";
  constexpr std::int64_t never = -1;
  for (const StartCase& c :
       {StartCase{"just made", pending, R"({})", 0, 10000},
        {"placed", pending, pending, 10, 9990},
        {"being created", pending, creating, 2000, 8000},
        {"for long", pending, creating, 10000, 0},
        {"for longer", pending, creating, 19000, 0},
        {"running", pending, R"({"phase": "Running"})", 0, never},
        {"ended at once", pending, R"({"phase": "Failed"})", 0, never},
        {"an init container runs", pending, initialising, 0, never},
        {"no image", pending, pulling_failed, 0, never},
        {"no room", pending, unschedulable, 0, never},
        {"ran before", R"({"phase": "Running"})", pending, 0, never},
        {"was refused before", R"({"phase": "Pending", "conditions": [
                               {"type": "offloading.liqo.io/Offloaded", "status": "False"}]})",
         pending, 0, never},
        {"was rejected before", R"({"phase": "Pending", "reason": "OffloadingBackOff"})", pending, 0, never}}) {
    CAPTURE(c.title);
    kube::Object far = remote();
    far.mutable_status() = parse_value(c.remote).get_object();
    const auto wait = [&](const kube::Object& home, const kube::Object& there) {
      const auto left = status_may_wait(home, there, std::chrono::milliseconds(c.known_for));
      return left ? *left / std::chrono::milliseconds(1) : never;
    };
    CHECK(wait(local_pod(c.local), far) == c.expected);
    CHECK(wait(deleting(local_pod(c.local)), far) == never);
    CHECK(wait(local_pod(c.local), deleting(far)) == never);
    kube::Object told = local_pod(c.local);
    told.set_annotation("offloading.liqo.io/remote-pod-uid", "r0");
    CHECK(wait(told, far) == never);
  }
}

TEST_CASE("a finished pod never runs again") {
  const auto done = local_pod(R"({"phase": "Succeeded"})", R"({"restartPolicy": "Never"})");
  const auto failed = local_pod(R"({"phase": "Failed", "reason": "SomeOtherReason"})");
  const auto aborted = local_pod(R"({"phase": "Failed", "reason": "OffloadingAborted"})");
  check({{"nothing remote", done, {}, {}, "Nothing"},
         {"kept with its logs", done, shadow("u1", "Succeeded"), remote("u1", "Succeeded"), "Nothing"},
         {"the record comes later", done, shadow("u1", "Running"), remote("u1", "Succeeded"), "Nothing"},
         {"its pod was deleted", done, shadow("u1", "Succeeded"), {}, "Nothing"},
         {"ended at home while it runs there", failed, shadow(), remote(), "DeleteShadow"},
         {"ended at home, could start there", failed, shadow("u1", "Unknown"), {}, "DeleteShadow"},
         {"ended at home, over there too", failed, shadow("u1", "Failed"), {}, "Nothing"},
         {"aborted", aborted, shadow("u1", "Failed"), {}, "DeleteShadow"},
         {"aborted, going", aborted, shadow("u1", "Running", true), {}, "Nothing"},
         {"aborted, nothing there", aborted, {}, {}, "Nothing"}});
}

TEST_CASE("a lost pod runs again only if it restarts always, or never started") {
  const auto with = [](const char* status, const char* policy) {
    return local_pod(status, R"({"restartPolicy": ")" + std::string(policy) + R"("})");
  };
  const char* const running =
      R"({"phase": "Running", "containerStatuses": [{"name": "main", "state": {"running": {}}}]})";
  const char* const waiting =
      R"({"phase": "Pending", "containerStatuses": [{"name": "main", "state": {"waiting": {}}}]})";
  check({{"Always, running", with(running, "Always"), {}, {}, "CreateShadow+status"},
         {"Always, a container ended", with(ran_and_ended, "Always"), {}, {}, "CreateShadow+status"},
         {"Never, running", with(running, "Never"), {}, {}, "FailLocal"},
         {"Never, ended", with(ran_and_ended, "Never"), {}, {}, "FailLocal"},
         {"OnFailure, ended", with(ran_and_ended, "OnFailure"), {}, {}, "FailLocal"},
         {"Never, not started", with(waiting, "Never"), {}, {}, "CreateShadow+status"},
         {"Never, ShadowPod not seen yet", with(running, "Never"), {}, {}, "AwaitShadow", {.shadow_created = true}}});
}

TEST_CASE("what was seen at the provider counts, also before it stands at home") {
  const auto never = R"({"restartPolicy": "Never"})";
  const PodMemory seen{.remote_started = true};
  check({{"never", local_pod("{}", never), {}, {}, "FailLocal", seen},
         {"restarts", local_pod("{}"), {}, {}, "CreateShadow+status", seen}});
  const auto local = local_pod("{}", never);
  const auto clusters = context().clusters;
  CHECK(is_run_of(remote(), local, clusters));
  CHECK_FALSE(is_run_of(remote("u1", "Pending"), local, clusters));
  CHECK_FALSE(is_run_of(remote("u0"), local, clusters));
  CHECK_FALSE(is_run_of(remote(""), local, clusters));
  CHECK_FALSE(is_run_of(foreign("Pod"), local, clusters));
}

TEST_CASE("a provider that runs a lost pod again is stopped where the pod must not") {
  const char* const metadata = R"({"annotations": {"offloading.liqo.io/remote-pod-uid": "r0"}})";
  const char* const never = R"({"restartPolicy": "Never"})";
  const char* const on_failure = R"({"restartPolicy": "OnFailure"})";
  const char* const made_again = R"({"annotations": {"offloading.liqo.io/remote-pod-uid": "r0",
    "offloading.liqo.io/restart-offset": "1"}})";
  const char* const running = R"({"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 1,
    "state": {"running": {}}}]})";
  check(
      {{"OnFailure, nothing had ended", local_pod(R"({"phase": "Running"})", on_failure, metadata), shadow(), remote(),
        "KeepShadow+status"},
       {"OnFailure, a container had ended", local_pod(ran_and_ended, on_failure, metadata), shadow(), remote(),
        "FailLocal"},
       {"OnFailure, made again before", local_pod(running, on_failure, made_again), shadow(), remote(),
        "KeepShadow+status"},
       {"OnFailure, a container restarted", local_pod(running, on_failure, metadata), shadow(), remote(), "FailLocal"},
       {"Never, another remote pod", local_pod(ran_and_ended, never, metadata), shadow(), remote(), "FailLocal"},
       {"Always, another remote pod", local_pod(ran_and_ended, "{}", metadata), shadow(), remote(),
        "KeepShadow+status"},
       {"Never, never started", local_pod(R"({"phase": "Pending"})", never, metadata), shadow(), remote(),
        "KeepShadow+status"}});
}

TEST_CASE("the recorded restarts are read as a restart count, whatever stands there") {
  const std::map<std::string_view, std::int64_t> cases = {
      {"3", 3}, {"", 0}, {"-5", 0}, {"many", 0}, {"99999999999", std::numeric_limits<std::int32_t>::max()}};
  for (const auto& [text, restarts] : cases) {
    CAPTURE(text);
    kube::Object pod = local_pod(R"({"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 0}]})");
    pod.set_annotation("offloading.liqo.io/restart-offset", text);
    CHECK(recorded_restarts(pod) == restarts);
    CHECK_FALSE(has_ended_container(pod));
  }
}

TEST_CASE("a pod that is to debug a virtual node is refused instead of offloaded") {
  const auto pending = R"({"phase": "Pending"})";
  const auto never = R"({"restartPolicy": "Never", "hostPID": true})";
  check({{"new", node_debugger(pending), {}, {}, "RefuseNodeDebugger"},
         {"no status yet", node_debugger(), {}, {}, "RefuseNodeDebugger"},
         {"does not use the node itself", node_debugger(pending, "{}"), {}, {}, "CreateShadow+status"},
         {"created, not seen yet", node_debugger(pending), {}, {}, "AwaitShadow", {.shadow_created = true}},
         {"offloaded", node_debugger(pending), shadow(), {}, "KeepShadow+status"},
         {"ran and is lost", node_debugger(R"({"phase": "Running"})", never), {}, {}, "FailLocal"},
         {"refused", node_debugger(R"({"phase": "Failed"})"), {}, {}, "Nothing"},
         {"terminating", deleting(node_debugger(pending)), {}, {}, "RemoveLocal"}});
}

TEST_CASE("what cannot be taken back is confirmed first, unless no other process can have offloaded the pod") {
  struct Confirmed {
    const char* title;
    std::optional<kube::Object> local, shadow, remote;
    bool if_unseen, if_seen;
    decltype(&plan_pod) decide = plan_pod;
  };
  const auto pending = local_pod(R"({"phase": "Pending"})");
  const auto running = local_pod(R"({"phase": "Running"})");
  const auto lost = local_pod(R"({"phase": "Running"})", R"({"restartPolicy": "Never"})");
  for (const Confirmed& c :
       {Confirmed{"new", pending, {}, {}, false, false},
        {"offloaded", running, shadow(), remote(), false, false},
        {"a node debugger", node_debugger(), {}, {}, true, true},
        {"lost", lost, {}, {}, true, true},
        {"terminating, nothing left", deleting(running), {}, {}, true, false},
        {"terminating, its ShadowPod is there", deleting(running), shadow(), {}, false, false},
        {"gone, its ShadowPod is there", {}, shadow(), {}, false, false},
        {"withdrawn, nothing left", running, {}, {}, true, false, plan_withdrawn_pod},
        {"withdrawn, terminating, nothing left", deleting(running), {}, {}, true, false, plan_withdrawn_pod},
        {"withdrawn, its pod is there", running, {}, remote(), false, false, plan_withdrawn_pod}}) {
    CAPTURE(c.title);
    const auto is_confirmed = [&](const PodMemory& memory) {
      const auto pointer = [](const std::optional<kube::Object>& object) { return object ? &*object : nullptr; };
      return c.decide({pointer(c.local), pointer(c.shadow), pointer(c.remote)}, memory, context()).confirm_first;
    };
    CHECK(is_confirmed({}) == c.if_unseen);
    CHECK(is_confirmed({.seen = true}) == c.if_seen);
    CHECK_FALSE(is_confirmed({.ours_alone = true}));
    CHECK_FALSE(is_confirmed({.seen = true, .ours_alone = true}));
  }
}

TEST_CASE("the end of a pod of whose order nothing was seen is confirmed, where somebody waits for its phase") {
  kube::Object pod = deleting(local_pod(R"({"phase": "Pending"})"));
  const auto is_confirmed = [&](const PodMemory& memory) {
    return plan_pod({.local = &pod, .shadow = nullptr, .remote = nullptr}, memory, context()).confirm_first;
  };
  const PodMemory sent{.sent = true, .seen = true, .ours_alone = true};
  CHECK_FALSE(is_confirmed(sent));
  pod.mutable_metadata()["finalizers"] = kube::json::array{"batch.kubernetes.io/job-tracking"};
  CHECK(is_confirmed(sent));
  CHECK_FALSE(is_confirmed({.remote_placed = true, .sent = true, .seen = true, .ours_alone = true}));
  CHECK_FALSE(is_confirmed({.ours_alone = true}));
}

TEST_CASE("a pod in a namespace without twin is rejected by what it had") {
  struct Unmapped {
    const char *title, *status;
    UnmappedPodPlan expected;
  };
  using enum UnmappedPodPlan;
  const std::string_view why = "the namespace has no twin";
  for (const Unmapped& c :
       {Unmapped{"succeeded", R"({"phase": "Succeeded"})", nothing},
        Unmapped{"failed", R"({"phase": "Failed"})", nothing},
        Unmapped{"failed after it waited",
                 R"({"phase": "Failed", "reason": "OffloadingBackOff", "message": "the node goes"})", nothing},
        Unmapped{"pending", R"({"phase": "Pending"})", back_off}, Unmapped{"no status", "{}", back_off},
        Unmapped{"told already", R"({"phase": "Pending", "reason": "OffloadingBackOff",
                                     "message": "the namespace has no twin"})",
                 nothing},
        Unmapped{"told another reason", R"({"phase": "Pending", "reason": "OffloadingBackOff",
                                            "message": "the node goes"})",
                 back_off},
        Unmapped{"told no reason", R"({"phase": "Pending", "reason": "OffloadingBackOff"})", back_off},
        Unmapped{"pending with containers", R"({"phase": "Pending", "containerStatuses": [{"name": "main"}]})", abort},
        Unmapped{"running", R"({"phase": "Running"})", abort}}) {
    CAPTURE(c.title);
    CHECK(plan_unmapped_pod(local_pod(c.status), why, false) == c.expected);
    // A provider that only reports trouble may run it all the same.
    CHECK(plan_unmapped_pod(local_pod(c.status), why, true) == (c.expected == abort ? nothing : c.expected));
    const auto of_debugger = c.expected == back_off ? refuse_node_debugger : c.expected;
    CHECK(plan_unmapped_pod(node_debugger(c.status), why, false) == of_debugger);
  }
  for (const bool troubled : {false, true})
    CHECK(plan_unmapped_pod(deleting(local_pod(R"({"phase": "Running"})")), why, troubled) == remove_local);
}

TEST_CASE("objects of the wrong form decide like absent ones and throw nothing") {
  const kube::Object broken = parse(R"({"metadata": {"name": "web", "uid": 5, "labels": [], "annotations": "x"},
    "spec": 3, "status": {"phase": {}, "containerStatuses": "many"}})");
  CHECK(name_of(plan_pod({&broken, nullptr, nullptr}, {}, context())) == "CreateShadow+status");
  CHECK(name_of(plan_pod({&broken, &broken, &broken}, {}, context())) == "RefuseForeign");
  CHECK(name_of(plan_pod({nullptr, &broken, &broken}, {}, context())) == "Nothing");
}

}  // namespace liqo::core
