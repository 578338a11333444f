// The provider's half: the plan for one ShadowPod and its pod. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/common/ip.hpp"
#include "core/offloading/ephemeral_containers.hpp"
#include "core/offloading/resize.hpp"
#include "core/policy/pod_policy.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// What the process saw of the pods of one ShadowPod (keyed by its UID). Losing it is harmless: the durable record is
/// `status.phase`.
struct ShadowMemory {
  bool pod_created = false;  ///< we created the pod and the cache has not shown it yet
  /// A POST of the pod was sent less than `create_doubt` ago and timed out. It may still be carried out, even after the
  /// pod of a second POST has ended and is gone.
  bool create_in_doubt = false;
  bool create_tried = false;  ///< a POST of the pod ended without an answer: what we know of the ShadowPod may be old
  bool pod_seen = false;      ///< its pod was in the cache
  bool pod_started = false;   ///< a container of its pod was seen to run or end (`has_started`)
  bool node_silent = false;   ///< its pod has waited `node_patience` for its node (`AwaitNode`)
  bool inherited = false;     ///< it may be older than what this process knows: its pod may have run and gone
};

/// How long a node may take to report the end of a pod that was deleted by force: a live kubelet needs moments.
inline constexpr kube::Duration node_patience = std::chrono::seconds(30);

/// Nobody acts upon the record that a pod with restartPolicy Always runs. It is written once no Pod has been made or
/// begun to run for `record_quiet`, and at the latest `max_record_delay` after the pod was first seen to run.
inline constexpr kube::Duration record_quiet = std::chrono::seconds(5), max_record_delay = std::chrono::seconds(40);

/// What the caches have of one ShadowPod: itself, and the Pod of its name or null.
struct ShadowSight {
  const kube::Object& shadow;
  const kube::Object* pod = nullptr;
};

namespace shadow_action {
/// Nothing is to be done, or an event of another object will bring the ShadowPod back.
struct Nothing {};
/// The ShadowPod cannot become a Pod: a Warning Event and the ShadowPod report that.
struct Refuse {
  std::string words;
};
/// The Pod of that name is not this ShadowPod's. Nothing but our finalizer is changed on it.
struct LeaveForeign {
  bool release = false;  ///< take our finalizer off, unless the live ShadowPod is the controller of the Pod
  std::string refusal;   ///< as `Refuse`; "" if the Pod is about to go
};
/// Take our finalizer off the Pod (`release_patch`): nothing about it is left to record.
struct Release {};
/// DELETE the Pod by its UID: its ShadowPod is being deleted, or says that the Pod is to end sooner.
struct RemovePod {
  std::optional<std::int64_t> grace_seconds;  ///< nothing: the grace time of the Pod
  bool release = false;                       ///< take our finalizer off first: there is nowhere to record its end
};
/// The Pod is lost and must not run again: record that it failed, unless the live Pod is still there.
struct RecordLoss {
  kube::json::object status;  ///< merge patch for shadowpods/<name>/status, with the UID
};
/// The order came late, and its consumer has not confirmed it: DELETE the ShadowPod once it has been seen so for
/// `confirm_patience`.
struct AwaitConfirmation {};
/// A POST of the Pod is in doubt: do nothing until it can no longer be carried out.
struct AwaitCreate {};
/// The Pod was created and is not in the cache yet: read it live after a time.
struct AwaitPod {};
/// POST this Pod.
struct Create {
  kube::Object pod;
  /// The Pod may have been there before. When a ShadowPod is deleted, the event that its Pod is gone may come first:
  /// read the ShadowPod live, and create only if it has the same UID and is not being deleted.
  bool confirm_first = false;
};
/// The phase to be recorded on the ShadowPod.
struct Record {
  kube::json::object status;  ///< merge patch for shadowpods/<name>/status, with the UID
  bool may_wait = false;      ///< nobody acts upon it (`max_record_delay`)
};
/// Take the report that the Pod is refused off the ShadowPod.
struct Report {
  kube::json::object patch;  ///< merge patch for the ShadowPod (`refusal_patch`)
};
/// Bring the Pod to what the ShadowPod says by now.
struct PatchPod {
  kube::json::object patch;  ///< strategic merge patch for the Pod, with its UID
};
/// The Pod was deleted by force, and nobody knows whether it has run: its node may still report that.
struct AwaitNode {};
/// A PodResize and an EphemeralAddition are to be PATCHed to the Pod, and to be noted there if they are refused.
using Step = std::variant<Report, PatchPod, Record, Release, PodResize, EphemeralAddition, AwaitNode>;
/// The Pod is there and is this ShadowPod's. At most one step of each kind is due, in the order of Step, so that the
/// record comes before the release of the Pod.
struct Keep {
  std::vector<Step> steps;
};
}  // namespace shadow_action

/// The step of that kind; null if it is not due.
template <class Kind>
const Kind* find_step(const shadow_action::Keep& plan) {
  for (const shadow_action::Step& step : plan.steps)
    if (const Kind* found = std::get_if<Kind>(&step)) return found;
  return nullptr;
}

/// What to do about one ShadowPod and its Pod.
using ShadowPlan =
    std::variant<shadow_action::Nothing, shadow_action::Refuse, shadow_action::LeaveForeign, shadow_action::Release,
                 shadow_action::RemovePod, shadow_action::RecordLoss, shadow_action::AwaitConfirmation,
                 shadow_action::AwaitCreate, shadow_action::AwaitPod, shadow_action::Create, shadow_action::Keep>;

/// Updates the memory by what the pod shows; a pod that is not the ShadowPod's own changes nothing.
void see_pod(ShadowMemory& memory, const kube::Object& shadow, const kube::Object& pod);
/// Whether our finalizer is on the pod. A pod that must not run twice gets it, so that it cannot vanish unrecorded
/// while no liqod watches. A pod that restarts always does not, because the finalizer costs a write.
bool is_tracked(const kube::Object& pod);
/// The strategic merge patch that takes the finalizer off the Pod, unless the Pod has changed since the decision.
kube::json::object release_patch(const kube::Object& pod);

/// The merge patch, with its UID, that makes the ShadowPod report to its consumer why the pod is not created; `words`
/// "" = it is created. Nothing if it reports that already.
std::optional<kube::json::object> refusal_patch(const kube::Object& shadow, std::string_view words);

/// Plans the next step. A pod that is lost is created again, unless the phase is final. If restartPolicy is not Always,
/// and it had started (Never) or one of its containers had ended (OnFailure), the phase becomes Failed instead. With
/// OnFailure it does so also if a pod that had started has vanished without its finalizer.
/// A pod that is not controlled by this ShadowPod is never touched. Nothing is created for a ShadowPod that came late
/// (`core/offloading/order.hpp`) until its consumer confirms it, and for one that says how its pod is to end
/// (`core/offloading/ending.hpp`). `api_server_ips` remaps the host aliases of `kubernetes.default`; `policy` is that
/// of the consumer, and decides which annotations and tolerations reach the Pod.
ShadowPlan plan_shadow_pod(const ShadowSight& sight, const ShadowMemory& memory,
                           const IpMapping* api_server_ips = nullptr, const PodPolicy& policy = {});

}  // namespace liqo::core
