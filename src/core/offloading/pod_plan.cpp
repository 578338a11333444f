#include "core/offloading/pod_plan.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/common/meta.hpp"
#include "core/offloading/ending.hpp"
#include "core/offloading/final_status.hpp"
#include "core/offloading/node_debugger.hpp"
#include "core/offloading/order.hpp"
#include "kube/base/scalar.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

using namespace pod_action;

bool is_bound(const kube::Object& pod) { return !kube::string_at(pod.spec(), {"nodeName"}).empty(); }

bool restarts_on_failure(const kube::Object& pod) {
  return kube::string_at(pod.spec(), {"restartPolicy"}) == "OnFailure";
}

/// What the provider has of the pod's name, by owner.
struct Known {
  const kube::Object& local;
  const kube::Object* shadow;  ///< ours, for this pod
  const kube::Object* stale;   ///< ours, for another pod of this name
  const kube::Object* remote;  ///< ours, for this pod
  bool predecessor;            ///< a remote pod of ours is there for another pod of this name
  bool foreign;                ///< an object of somebody else has the name
};

Known tell_apart(const PodSight& seen, const ClusterPair& clusters) {
  const auto& [local, shadow, remote] = std::tie(*seen.local, seen.shadow, seen.remote);
  Known known{local, nullptr, nullptr, nullptr, false, false};
  if (shadow && !is_reflected(*shadow, clusters))
    known.foreign = true;
  else if (shadow)
    (is_for_another(*shadow, local) ? known.stale : known.shadow) = shadow;
  if (remote && !is_reflected(*remote, clusters))
    known.foreign = true;
  else if (remote && (is_for_another(*remote, local) || (known.stale && !known.shadow)))
    known.predecessor = true;
  else
    known.remote = remote;
  return known;
}

DeleteShadow delete_unowned(const kube::Object& shadow) {
  return {.uid = std::string(shadow.uid()),
          .confirm_first = true,
          .owner_uid = std::string(shadow.annotation(api::annotations::local_pod_uid))};
}
DeleteShadow delete_own(const kube::Object& shadow) { return {.uid = std::string(shadow.uid())}; }

/// The ShadowPod of a pod that is being deleted at home.
PodPlan end_shadow(const Known& known, const PodMemory& memory) {
  const kube::Object& shadow = *known.shadow;
  std::optional<std::int64_t> grace;
  if (known.remote) grace = asked_grace(known.local, *known.remote);
  if (grace && grace != memory.grace_given_up) {
    if (ordered_grace(shadow) != grace) return {SendGrace{*grace}, true};
    if (!known.remote->is_deleting()) return {AwaitEnding{*grace}, true};
  }
  if (shadow.is_deleting()) return {Nothing{}, true};
  DeleteShadow remove = delete_own(shadow);
  // A provider of the Go version makes the Pod again while its ShadowPod is being deleted.
  const bool is_ours = known.remote && known.remote->has_annotation(api::annotations::applied_spec);
  if (is_ours && !api::is_final_phase(api::phase_of(*known.remote)))
    remove.foreground = known.remote->is_deleting() ? outlives(*known.remote, default_grace)
                                                    : own_grace(known.local.spec()) > default_grace;
  return {std::move(remove), true};
}

PodPlan plan_absent(const kube::Object* shadow, const ForgingContext& ctx) {
  // The ShadowPods of other virtual nodes of the same provider are theirs to remove.
  if (!shadow || !is_reflected(*shadow, ctx.clusters) || shadow->is_deleting() ||
      shadow->label(api::labels::node_name) != ctx.node_name)
    return {Nothing{}};
  return {delete_unowned(*shadow)};
}

PodPlan plan_terminating(const Known& known, const PodMemory& memory) {
  // As long as there is a ShadowPod of this name, an order that is still on its way is refused by the provider.
  if (memory.order_in_doubt && !(known.shadow && known.shadow->is_deleting())) return {AwaitOrder{}, true};
  if (known.shadow) return end_shadow(known, memory);
  // A remote pod that has ended may be held for a record of the provider's liqod, which may not be running.
  const std::string_view phase = api::phase_of(known.local);
  const bool is_reported =
      known.remote && (phase == api::phase_of(*known.remote) || api::is_final_phase(phase) || !is_bound(*known.remote));
  if (known.remote && !(is_over(*known.remote) && is_reported)) return {Nothing{}, true};
  // A ShadowPod that was created a moment ago must not outlive the pod unseen.
  if (memory.shadow_created && !known.stale) return {AwaitShadow{}};
  if (is_only_held(known.local)) return {Nothing{}};
  return {RemoveLocal{}};
}

/// A local phase that is final stays, whoever set it. The ShadowPod is kept while it cannot run anything (it holds the
/// remote pod with its logs), and removed if it could.
PodPlan plan_finished(const Known& known, const PodMemory& memory) {
  if (!known.shadow || known.shadow->is_deleting()) return {Nothing{}};
  if (memory.order_in_doubt) return {AwaitOrder{}};
  if (kube::string_at(known.local.status(), {"reason"}) == api::reasons::offloading_aborted)
    return {delete_own(*known.shadow)};
  const bool over = api::ShadowPod(*known.shadow).is_finished() ||
                    (known.remote && api::is_final_phase(api::phase_of(*known.remote)));
  return over ? PodPlan{Nothing{}} : PodPlan{delete_own(*known.shadow)};
}

FailLocal lost() {
  return {.reason = std::string(api::reasons::remote_lost),
          .message = "the pod was running at the provider and is lost; with its restart policy it is not run again"};
}

/// The pod would stay here without running, and keep its owner from making another one elsewhere.
FailLocal shut_out() {
  return {.reason = std::string(api::reasons::offloading_aborted),
          .message = "the provider ended the pod and takes no new ones: it is drained or has no room"};
}

/// Whether a controller makes another pod in the place of this one once it has failed, and the scheduler is free to
/// place that elsewhere. A DaemonSet makes it for the same node, and so does everybody who has named the node; the
/// scheduler leaves a condition on what it has bound.
bool is_replaced(const kube::Object& pod) {
  const auto owner = pod.controller();
  if (!owner || !kube::find_condition(pod.status(), "PodScheduled")) return false;
  constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {"apps/", "ReplicaSet"}, {"apps/", "StatefulSet"}, {"v1", "ReplicationController"}, {"batch/", "Job"}};
  return std::ranges::any_of(kinds, [&owner](const auto& known) {
    return owner->api_version.starts_with(known.first) && owner->kind == known.second;
  });
}

/// It would wait for ever, bound as it is, and keep its owner from making another one elsewhere.
FailLocal too_large(const std::string& why) {
  return {.reason = std::string(api::reasons::offloading_aborted),
          .message = "this node can never hold the pod, so its controller makes another one: " + why +
                     "; let it ask for less, or have more granted",
          .never_ran = true};
}

/// The status at home may lag behind what was seen at the provider.
bool may_not_run_again(const Known& known, const PodMemory& memory) {
  return !restarts_always(known.local.spec()) && (has_started(known.local) || memory.remote_started);
}

PodPlan plan_unsent(const Known& known, const PodMemory& memory) {
  if (memory.shadow_created) return {AwaitShadow{}};
  // The remote pod of a deleted ShadowPod keeps the name until the garbage collector has removed it.
  if (known.remote || known.predecessor) return {Nothing{}, known.remote != nullptr};
  if (may_not_run_again(known, memory)) return {lost()};
  if (memory.shut_out && has_started(known.local)) return {shut_out()};
  if (!memory.too_large.empty() && !may_have_run(known.local, memory) && is_replaced(known.local))
    return {too_large(memory.too_large)};
  if (is_node_debugger(known.local)) return {RefuseNodeDebugger{}};
  return {CreateShadow{}, true};
}

PodPlan plan_sent(const Known& known, const PodMemory& memory) {
  const std::string_view shown = known.local.annotation(api::annotations::remote_pod_uid);
  // With OnFailure, a container that did not end may run again in another pod, as the provider has decided.
  const bool ran = restarts_on_failure(known.local) ? has_ended_container(known.local) : has_started(known.local);
  const bool runs_again =
      known.remote && !shown.empty() && shown != known.remote->uid() && !restarts_always(known.local.spec()) && ran;
  // A provider of the Go version re-creates every lost pod. The next pass then removes the ShadowPod.
  if (runs_again) return {lost()};
  // A ShadowPod that was stored late, after its pod had run already, must not be confirmed.
  if (!known.remote && !is_timely(*known.shadow) && may_not_run_again(known, memory)) return {lost()};
  if (known.shadow->is_deleting() || (!known.remote && api::ShadowPod(*known.shadow).is_finished()))
    return {Nothing{}, true};
  // The pod was to end and is back from a restored database at home. The provider makes no Pod for such a ShadowPod.
  if (ordered_grace(*known.shadow)) return {delete_own(*known.shadow), true};
  return {KeepShadow{}, true};
}

PodPlan plan_mapped(const PodSight& seen, const PodMemory& memory, const ForgingContext& ctx) {
  const kube::Object* local = seen.local;
  if (!local) return plan_absent(seen.shadow, ctx);
  const Known known = tell_apart(seen, ctx.clusters);
  if (local->is_deleting()) return plan_terminating(known, memory);
  if (known.stale) return known.stale->is_deleting() ? PodPlan{Nothing{}} : PodPlan{delete_unowned(*known.stale)};
  if (api::is_final_phase(api::phase_of(*local))) return plan_finished(known, memory);
  if (known.foreign)
    return {RefuseForeign{"the provider has an object named \"" + std::string(local->name()) +
                          "\" in the twin namespace that does not come from this pod: the remote object already "
                          "exists, so the pod is not offloaded"}};
  if (const auto most = known.remote ? ending_may_take(*known.remote) : std::nullopt;
      most && memory.remote_ending_for >= *most)
    return {EvictLocal{.uid = std::string(local->uid()), .remote_uid = std::string(known.remote->uid())}, true};
  return known.shadow ? plan_sent(known, memory) : plan_unsent(known, memory);
}

PodPlan plan_withdrawn(const PodSight& seen, const PodMemory& memory, const ForgingContext& ctx) {
  const kube::Object* local = seen.local;
  // An object without a pod at home goes with the twin.
  if (!local) return {Nothing{}};
  const Known known = tell_apart(seen, ctx.clusters);
  if (local->is_deleting()) return plan_terminating(known, memory);
  if (api::is_final_phase(api::phase_of(*local))) return {Nothing{}};
  if (known.shadow || known.remote) return {Nothing{}, true};
  if (memory.order_in_doubt) return {AwaitOrder{}};
  if (memory.shadow_created) return {AwaitShadow{}};
  return {Reject{}};
}

/// Whether what is planned cannot be taken back.
bool is_final(const PodAction& action, const PodMemory& memory) {
  if (std::holds_alternative<FailLocal>(action) || std::holds_alternative<RefuseNodeDebugger>(action)) return true;
  return !memory.seen && (std::holds_alternative<RemoveLocal>(action) || std::holds_alternative<Reject>(action));
}

/// Whether a pod is about to end as one of which nothing is known, because the caches have not shown what came of its
/// order.
bool ends_unseen(const PodSight& seen, const PodAction& action, const PodMemory& memory) {
  return std::holds_alternative<RemoveLocal>(action) && memory.sent && !memory.remote_placed &&
         needs_final_phase(*seen.local);
}

PodPlan confirm_if_final(const PodSight& seen, PodPlan plan, const PodMemory& memory) {
  plan.confirm_first = (!memory.ours_alone && is_final(plan.action, memory)) || ends_unseen(seen, plan.action, memory);
  return plan;
}

}  // namespace

PodPlan plan_pod(const PodSight& seen, const PodMemory& memory, const ForgingContext& ctx) {
  return confirm_if_final(seen, plan_mapped(seen, memory, ctx), memory);
}

PodPlan plan_withdrawn_pod(const PodSight& seen, const PodMemory& memory, const ForgingContext& ctx) {
  return confirm_if_final(seen, plan_withdrawn(seen, memory, ctx), memory);
}

UnmappedPodPlan plan_unmapped_pod(const kube::Object& local, std::string_view why, bool troubled) {
  if (local.is_deleting()) return is_only_held(local) ? UnmappedPodPlan::nothing : UnmappedPodPlan::remove_local;
  const std::string_view phase = api::phase_of(local);
  // A pod that has ended waits for nothing, whatever reason it still shows.
  if (api::is_final_phase(phase)) return UnmappedPodPlan::nothing;
  const bool pending = phase.empty() || phase == "Pending";
  const bool has_begun = !pending || !kube::array_at(local.status(), {"containerStatuses"}).empty();
  if (has_begun && !troubled) return UnmappedPodPlan::abort;
  const bool is_reported = kube::string_at(local.status(), {"reason"}) == api::reasons::offloading_back_off;
  // The reason for which the pod waits may have changed since it was written.
  if (is_reported ? kube::string_at(local.status(), {"message"}) == why : has_begun) return UnmappedPodPlan::nothing;
  return is_node_debugger(local) ? UnmappedPodPlan::refuse_node_debugger : UnmappedPodPlan::back_off;
}

bool has_started(const kube::Object& pod) {
  if (api::phase_of(pod) == "Running" || api::is_final_phase(api::phase_of(pod))) return true;
  for (std::string_view list : {"containerStatuses", "initContainerStatuses"})
    for (const json::value& status : kube::array_at(pod.status(), {list}))
      if (kube::find(status, {"state", "running"}) || kube::find(status, {"state", "terminated"}) ||
          kube::find(status, {"lastState", "terminated"}) || kube::int_at(status, {"restartCount"}) > 0)
        return true;
  return false;
}

std::int64_t recorded_restarts(const kube::Object& pod) {
  const auto recorded = kube::read_number<std::int64_t>(pod.annotation(api::annotations::restart_offset));
  return std::clamp<std::int64_t>(recorded.value_or(0), 0, std::numeric_limits<std::int32_t>::max());
}

bool has_ended_container(const kube::Object& pod) {
  const std::int64_t offset = recorded_restarts(pod);
  for (std::string_view list : {"containerStatuses", "initContainerStatuses"})
    for (const json::value& status : kube::array_at(pod.status(), {list}))
      if (kube::find(status, {"state", "terminated"}) || kube::find(status, {"lastState", "terminated"}) ||
          kube::int_at(status, {"restartCount"}) > offset)
        return true;
  return false;
}

bool is_over(const kube::Object& pod) {
  return pod.is_deleting() && (api::is_final_phase(api::phase_of(pod)) || !is_bound(pod));
}

std::optional<kube::Duration> ending_may_take(const kube::Object& remote) {
  if (!remote.is_deleting()) return std::nullopt;
  if (is_over(remote) && remote.has_finalizer(api::finalizers::shadow_pod_tracking)) return std::nullopt;
  const std::int64_t grace = kube::int_at(remote.metadata(), {"deletionGracePeriodSeconds"});
  return std::chrono::seconds(std::clamp<std::int64_t>(grace, 0, std::numeric_limits<std::int32_t>::max())) +
         ending_patience;
}

bool is_made_again(const kube::Object& pod) {
  return pod.is_deleting() &&
         (restarts_always(pod.spec()) || !is_bound(pod) || (restarts_on_failure(pod) && !has_ended_container(pod)));
}

bool is_run_of(const kube::Object& remote, const kube::Object& local, const ClusterPair& clusters) {
  return is_reflected(remote, clusters) && remote.annotation(api::annotations::local_pod_uid) == local.uid() &&
         has_started(remote);
}

bool is_stuck(const kube::Object& pod) {
  const json::object* scheduled = kube::find_condition(pod.status(), "PodScheduled");
  if (scheduled && kube::string_at(*scheduled, {"status"}) == "False") return true;
  for (std::string_view list : {"containerStatuses", "initContainerStatuses"})
    for (const json::value& status : kube::array_at(pod.status(), {list})) {
      const std::string_view reason = kube::string_at(status, {"state", "waiting", "reason"});
      if (!reason.empty() && reason != "ContainerCreating" && reason != "PodInitializing") return true;
    }
  return false;
}

std::optional<kube::Duration> status_may_wait(const kube::Object& local, const kube::Object& remote,
                                              kube::Duration known_for) {
  const auto is_pending = [](std::string_view phase) { return phase.empty() || phase == "Pending"; };
  const bool is_starting = is_pending(api::phase_of(local)) && is_pending(api::phase_of(remote)) &&
                           !local.is_deleting() && !remote.is_deleting() && !has_started(remote) && !is_stuck(remote);
  // A status that is shown at home already must be corrected without delay.
  const bool is_unreported = local.annotation(api::annotations::remote_pod_uid).empty() &&
                             kube::string_at(local.status(), {"reason"}).empty() &&
                             !kube::find_condition(local.status(), api::offloaded_condition);
  if (!is_starting || !is_unreported) return std::nullopt;
  return std::max(starting_time - known_for, kube::Duration::zero());
}

bool restarts_always(const json::object& pod_spec) {
  const std::string_view policy = kube::string_at(pod_spec, {"restartPolicy"});
  return policy.empty() || policy == "Always";
}

}  // namespace liqo::core
