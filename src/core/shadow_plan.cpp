#include "liqo/core/shadow_plan.hpp"

#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "liqo/core/forge/provider_pod.hpp"
#include "liqo/core/order.hpp"
#include "liqo/core/pod_plan.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

json::object phase_patch(const kube::Object& shadow, std::string_view phase) {
  return {{"metadata", json::object{{"uid", shadow.uid()}}}, {"status", json::object{{"phase", phase}}}};
}

/// The phase to record, or "" where the present record is to stand.
std::string_view phase_to_record(const api::ShadowPod& shadow, const kube::Object& pod) {
  const std::string_view phase = kube::string_at(pod.status(), {"phase"});
  const std::string_view recorded = shadow.phase();
  if (phase == recorded || phase.empty()) return {};
  // A kubelet gives every deleted pod a final phase; one that restarts always is made again instead.
  if (api::is_final_phase(phase))
    return pod.is_deleting() && restarts_always(shadow.pod_spec()) ? std::string_view() : phase;
  // "Running" is the record that it ran: it is never taken back. A short wait is not worth a write.
  if (phase == "Running") return phase;
  if (phase == "Pending") return recorded != "Running" && is_stuck(pod) ? phase : std::string_view();
  return {};
}

ShadowPlan plan_with_pod(const kube::Object& shadow, const kube::Object& pod) {
  ShadowPlan plan;
  const auto controller = pod.controller();
  if (!controller || controller->uid != shadow.uid()) {
    const bool of_predecessor = controller && controller->kind == "ShadowPod" && controller->name == shadow.name();
    // Those of a predecessor, and whatever is being deleted, will be gone: their deletion brings us back here.
    if (!of_predecessor && !pod.is_deleting())
      plan.refusal = "a pod of this name exists that was not made for this ShadowPod";
    return plan;
  }
  if (api::ShadowPod(shadow).is_finished()) return plan;
  if (const std::string_view phase = phase_to_record(api::ShadowPod(shadow), pod); !phase.empty())
    plan.status = phase_patch(shadow, phase);
  if (!pod.is_deleting() && !api::is_final_phase(kube::string_at(pod.status(), {"phase"})))
    plan.patch = plan_provider_pod_update(shadow, pod);
  return plan;
}

}  // namespace

ShadowPlan plan_shadow_pod(const kube::Object& shadow, const kube::Object* pod, const ShadowMemory& memory,
                           const IpMapping* api_server_ips) {
  ShadowPlan plan;
  if (shadow.is_deleting()) {
    // The garbage collector waits for a ShadowPod to be gone, and a finalizer, also of its consumer, can hold it for
    // ever.
    const auto controller = pod ? pod->controller() : std::nullopt;
    plan.remove_pod = controller && controller->uid == shadow.uid() && !pod->is_deleting();
    return plan;
  }
  if (pod) return plan_with_pod(shadow, *pod);

  const api::ShadowPod view(shadow);
  if (view.is_finished()) return plan;
  if (view.origin().empty()) {
    plan.refusal = "the label " + std::string(api::labels::reflection_origin) + " is missing";
    return plan;
  }
  if (kube::array_at(view.pod_spec(), {"containers"}).empty()) {
    plan.refusal = "it has no spec.pod with containers";
    return plan;
  }
  const bool started = memory.pod_started || view.phase() == "Running";
  if (started && !restarts_always(view.pod_spec())) {
    plan.status = phase_patch(shadow, "Failed");
    return plan;
  }
  if (memory.pod_created) {
    plan.await_pod = true;
    return plan;
  }
  // The consumer's second word, or its deletion, will bring it back here.
  if (!is_timely(shadow)) return plan;
  if (memory.create_in_doubt) {
    plan.await_create = true;
    return plan;
  }
  plan.create = forge_provider_pod(shadow, api_server_ips);
  plan.confirm_first = memory.create_tried || memory.pod_seen || memory.pod_started || view.phase() != "Unknown";
  return plan;
}

}  // namespace liqo::core
