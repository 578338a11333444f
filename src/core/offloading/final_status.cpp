#include "core/offloading/final_status.hpp"

#include "core/common/json_values.hpp"
#include "core/offloading/pod_plan.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

bool has_finalizer_of_any(const kube::Object& pod) { return !kube::array_at(pod.metadata(), {"finalizers"}).empty(); }

/// Whether home shows that the pod was not taken, which it no longer shows of a pod that is ordered after all.
bool is_told_to_wait(const kube::Object& local) {
  return !reported_refusal(local.status()).empty() ||
         kube::string_at(local.status(), {"reason"}) == api::reasons::offloading_back_off;
}

}  // namespace

bool needs_final_phase(const kube::Object& pod) {
  return has_finalizer_of_any(pod) && !api::is_final_phase(api::phase_of(pod));
}

bool is_only_held(const kube::Object& pod) {
  return pod.is_deleting() && kube::int_at(pod.metadata(), {"deletionGracePeriodSeconds"}, -1) == 0 &&
         has_finalizer_of_any(pod) && api::is_final_phase(api::phase_of(pod));
}

ContainerEnds container_ends(const kube::Object& pod) {
  const json::array& containers = kube::array_at(pod.spec(), {"containers"});
  const json::array& statuses = kube::array_at(pod.status(), {"containerStatuses"});
  bool failed = false;
  for (const json::value& container : containers) {
    const json::value* status = find_named(statuses, kube::string_at(container, {"name"}));
    if (!status || !kube::find(*status, {"state", "terminated"})) return ContainerEnds::unknown;
    failed = failed || kube::int_at(*status, {"state", "terminated", "exitCode"}) != 0;
  }
  if (containers.empty()) return ContainerEnds::unknown;
  return failed ? ContainerEnds::failed : ContainerEnds::succeeded;
}

bool may_have_run(const kube::Object& local, const PodMemory& memory) {
  if (has_started(local) || memory.remote_started) return true;
  if (memory.remote_placed) return *memory.remote_placed;
  if (memory.sent || local.has_annotation(api::annotations::remote_pod_uid)) return true;
  return !memory.ours_alone && !is_told_to_wait(local);
}

WantedStatus forge_final_status(const kube::Object& local, bool may_have_run, kube::WallTime now) {
  const ContainerEnds ends = container_ends(local);
  if (ends == ContainerEnds::unknown) {
    if (!may_have_run)
      return forge_rejection(local,
                             {.phase = "Failed",
                              .reason = api::reasons::offloading_aborted,
                              .message = "the pod was deleted before it ran",
                              .never_ran = true},
                             now);
    return forge_rejection(local,
                           {.phase = "Failed",
                            .reason = api::reasons::remote_terminated,
                            .message = "the pod is gone at the provider, and how it ended there is not known"},
                           now);
  }
  const bool failed = ends == ContainerEnds::failed;
  WantedStatus wanted = forge_rejection(
      local, {.phase = failed ? "Failed" : "Succeeded", .reason = failed ? "PodFailed" : "PodCompleted", .message = {}},
      now);
  // As with kubelets this is the reason of its conditions alone.
  wanted.status.erase("reason");
  return wanted;
}

}  // namespace liqo::core
