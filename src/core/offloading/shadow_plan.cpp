#include "core/offloading/shadow_plan.hpp"

#include <algorithm>
#include <tuple>

#include "core/common/owner.hpp"
#include "core/offloading/ending.hpp"
#include "core/offloading/ephemeral_containers.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/offloading/provider_pod.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

using namespace shadow_action;

/// `may_wait`: the patch is written apart from the others, and so may come after the record of how the pod ended.
json::object phase_patch(const kube::Object& shadow, std::string_view phase, bool may_wait = false) {
  json::object metadata{{"uid", shadow.uid()}};
  // A late write must not undo a later record: "Pending" lets a pod run.
  if (phase == "Pending" || may_wait) metadata["resourceVersion"] = shadow.resource_version();
  return {{"metadata", std::move(metadata)}, {"status", json::object{{"phase", phase}}}};
}

/// The phase to record, or "" if the present record is to stand.
std::string_view phase_to_record(const api::ShadowPod& shadow, const kube::Object& pod) {
  const std::string_view phase = api::phase_of(pod);
  const std::string_view recorded = shadow.phase();
  // A kubelet gives every deleted pod a final phase, even a pod that is made again.
  if (phase == recorded || phase.empty() || is_made_again(pod)) return {};
  if (api::is_final_phase(phase)) return phase;
  // "Running" is the record that it ran: it is not taken back here. A short wait is not worth a write.
  if (phase == "Running") return phase;
  if (phase == "Pending") return recorded != "Running" && is_stuck(pod) ? phase : std::string_view();
  return {};
}

/// Whether nothing depends on the record: a pod that restarts always is made again whatever its record says. Only the
/// record shows that ephemeral containers have had their run, so a pod with such containers does not wait.
bool may_wait(const api::ShadowPod& shadow, std::string_view phase) {
  return phase == "Running" && restarts_always(shadow.pod_spec()) &&
         kube::array_at(shadow.pod_spec(), {"ephemeralContainers"}).empty();
}

/// Whether the pod was deleted by force: the API server does not wait for its kubelet, which may be dead.
bool is_forced(const kube::Object& pod) {
  return pod.is_deleting() && kube::int_at(pod.metadata(), {"deletionGracePeriodSeconds"}, 1) == 0;
}

/// How far a tracked pod that is being deleted has come.
enum class Leave { not_yet, asks_node, granted };

/// Whether the pod may go, and what is to be recorded of it before.
Leave plan_leave(const ShadowSight& sight, const ShadowMemory& memory, std::optional<Record>& record) {
  const kube::Object& pod = *sight.pod;
  const bool is_final = api::is_final_phase(api::phase_of(pod));
  if (is_final && !is_made_again(pod)) return Leave::granted;
  if (!is_over(pod) && !is_forced(pod)) return Leave::not_yet;
  const bool never = kube::string_at(pod.spec(), {"restartPolicy"}) == "Never";
  if (!is_over(pod)) {
    const bool is_run = never ? has_started(pod) : has_ended_container(pod);
    if (!is_run && !memory.node_silent) return Leave::asks_node;
    // A pod that has a node may have run, whatever its status says.
    if (is_run || never) record = Record{phase_patch(sight.shadow, "Failed")};
  }
  // With "Running" still recorded, the pod that is gone could not be made again.
  if (!record && api::ShadowPod(sight.shadow).phase() == "Running")
    record = Record{phase_patch(sight.shadow, "Pending")};
  return Leave::granted;
}

/// The seconds within which the pod is to end, as its consumer says, but at most what the policy admits; nothing if the
/// pod has no more than that already.
std::optional<std::int64_t> grace_left(const ShadowSight& sight, const PodPolicy& policy) {
  const auto ordered = ordered_grace(sight.shadow);
  if (!ordered || api::is_final_phase(api::phase_of(*sight.pod))) return std::nullopt;
  const std::int64_t grace =
      std::min(*ordered, std::max<std::int64_t>(policy.max_termination_grace_seconds, default_grace));
  return outlives(*sight.pod, grace) ? std::optional(grace) : std::nullopt;
}

/// The garbage collector deletes the pod only after its ShadowPod is gone, and a finalizer, even one of the consumer,
/// can hold the ShadowPod for ever.
ShadowPlan plan_deleted(const ShadowSight& sight, const PodPolicy& policy) {
  if (!sight.pod || !is_controlled_by(*sight.pod, sight.shadow)) return Nothing{};
  const auto grace = grace_left(sight, policy);
  const bool release = is_tracked(*sight.pod);
  if (grace || !sight.pod->is_deleting()) return RemovePod{.grace_seconds = grace, .release = release};
  if (release) return Release{};
  return Nothing{};
}

/// A pod of a predecessor, or one that is being deleted, is no refusal: its deletion brings the ShadowPod back.
LeaveForeign leave_foreign(const ShadowSight& sight) {
  const auto controller = sight.pod->controller();
  const bool of_predecessor =
      controller && controller->kind == api::kinds::shadow_pods.kind && controller->name == sight.shadow.name();
  LeaveForeign plan{.release = is_tracked(*sight.pod)};
  if (!of_predecessor && !sight.pod->is_deleting())
    plan.refusal = "a pod of this name exists that was not made for this ShadowPod";
  return plan;
}

Keep keep(const ShadowSight& sight, const ShadowMemory& memory, const PodPolicy& policy) {
  const auto& [shadow, pod] = std::tie(sight.shadow, *sight.pod);
  std::optional<Record> record;
  if (const std::string_view phase = phase_to_record(api::ShadowPod(shadow), pod); !phase.empty()) {
    const bool waits = may_wait(api::ShadowPod(shadow), phase);
    record = Record{phase_patch(shadow, phase, waits), waits};
  }
  const Leave leave = is_tracked(pod) ? plan_leave(sight, memory, record) : Leave::not_yet;
  const bool is_alive = !pod.is_deleting() && !api::is_final_phase(api::phase_of(pod));
  auto patch = is_alive ? plan_provider_pod_update(shadow, pod, policy) : std::nullopt;
  // The answer to the patch brings the ShadowPod back here.
  const bool may_grow = is_alive && !patch;

  Keep plan;
  const auto add = [&plan](auto step) { plan.steps.emplace_back(std::move(step)); };
  if (auto lifted = refusal_patch(shadow, "")) add(Report{std::move(*lifted)});
  if (patch) add(PatchPod{std::move(*patch)});
  if (record) add(std::move(*record));
  if (leave == Leave::granted) add(Release{});
  if (may_grow)
    if (auto resize = plan_pod_resize(shadow, pod)) add(std::move(*resize));
  if (may_grow)
    if (auto addition = plan_ephemeral_addition(shadow, pod, policy)) add(std::move(*addition));
  if (leave == Leave::asks_node) add(AwaitNode{});
  return plan;
}

ShadowPlan plan_with_pod(const ShadowSight& sight, const ShadowMemory& memory, const PodPolicy& policy) {
  if (!is_controlled_by(*sight.pod, sight.shadow)) return leave_foreign(sight);
  if (api::ShadowPod(sight.shadow).is_finished())
    return is_tracked(*sight.pod) ? ShadowPlan(Release{}) : ShadowPlan(Nothing{});
  if (const auto grace = grace_left(sight, policy)) return RemovePod{.grace_seconds = grace};
  return keep(sight, memory, policy);
}

}  // namespace

void see_pod(ShadowMemory& memory, const kube::Object& shadow, const kube::Object& pod) {
  if (!is_controlled_by(pod, shadow)) return;
  memory.pod_created = false;
  memory.pod_seen = true;
  if (is_made_again(pod) && (is_over(pod) || is_forced(pod)))
    memory.pod_started = false;
  else if (has_started(pod))
    memory.pod_started = true;
}

std::optional<json::object> refusal_patch(const kube::Object& shadow, std::string_view words) {
  const std::string_view cut = kube::cut_text(words, max_refusal);
  if (shadow.annotation(api::annotations::refused) == cut) return std::nullopt;
  json::object changes;
  changes[api::annotations::refused] = cut.empty() ? json::value(nullptr) : json::value(cut);
  return json::object{{"metadata", json::object{{"uid", shadow.uid()}, {"annotations", std::move(changes)}}}};
}

bool is_tracked(const kube::Object& pod) { return pod.has_finalizer(api::finalizers::shadow_pod_tracking); }

json::object release_patch(const kube::Object& pod) {
  // A late cache may show a pod that has run as one that has not: the patch fits only the version that was seen.
  return {{"metadata", json::object{{"uid", pod.uid()},
                                    {"resourceVersion", pod.resource_version()},
                                    {"$deleteFromPrimitiveList/finalizers",
                                     json::array{json::string(api::finalizers::shadow_pod_tracking)}}}}};
}

ShadowPlan plan_shadow_pod(const ShadowSight& sight, const ShadowMemory& memory, const IpMapping* api_server_ips,
                           const PodPolicy& policy) {
  const kube::Object& shadow = sight.shadow;
  if (shadow.is_deleting()) return plan_deleted(sight, policy);
  if (sight.pod) return plan_with_pod(sight, memory, policy);

  const api::ShadowPod view(shadow);
  if (view.is_finished()) return Nothing{};
  if (view.origin().empty()) return Refuse{"the label " + std::string(api::labels::reflection_origin) + " is missing"};
  if (kube::array_at(view.pod_spec(), {"containers"}).empty())
    return Refuse{"ShadowPod " + shadow.key().text() + " has no spec.pod with containers"};
  const bool started = memory.pod_started || view.phase() == "Running";
  if (started && !restarts_always(view.pod_spec())) return RecordLoss{phase_patch(shadow, "Failed")};
  if (memory.pod_created) return AwaitPod{};
  if (!is_timely(shadow)) return AwaitConfirmation{};
  // The deletion of the ShadowPod will bring it back here.
  if (ordered_grace(shadow)) return Nothing{};
  if (memory.create_in_doubt) return AwaitCreate{};
  Create plan{.pod = forge_provider_pod(shadow, api_server_ips, policy)};
  if (started) leave_out_ephemeral(plan.pod, shadow);
  plan.confirm_first =
      memory.create_tried || memory.pod_seen || memory.pod_started || memory.inherited || view.phase() != "Unknown";
  return plan;
}

}  // namespace liqo::core
