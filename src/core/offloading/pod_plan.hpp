// The plan for one pod of a virtual node, given what both clusters show. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/common/forging_context.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// What the process remembers about a pod beside the caches. Keyed by the local pod's UID and dropped with it; losing
/// it (restart) is harmless.
struct PodMemory {
  bool shadow_created = false;  ///< we created the ShadowPod and the cache has not shown it yet
  /// A POST of the ShadowPod got no answer less than `order_doubt` ago: it may still be carried out.
  bool order_in_doubt = false;
  bool remote_started = false;  ///< a container of its remote pod was seen to run or end (`has_started`)
  /// Whether a remote pod of it was ever seen with a node; null = none was seen.
  std::optional<bool> remote_placed;
  /// Time since its remote pod was first seen to be deleted, by our own clock; zero = it is not.
  kube::Duration remote_ending_for{};
  /// Its last order was refused for lack of room, and its node is closed to new pods.
  bool shut_out = false;
  /// Its last order was refused for lack of room, and its node could never hold it: why (`why_too_large`); "" = it
  /// could.
  std::string too_large;
  /// The grace time that its remote pod was to have, in seconds, and that the provider does not give it.
  std::optional<std::int64_t> grace_given_up;
  bool sent = false;  ///< a ShadowPod of it is or was at the provider, or may have been: an order of it had no answer
  bool seen = false;  ///< an object of the pod was seen at the provider since this process leads
  /// The pod was created after this process began to lead: no other process can have offloaded it.
  bool ours_alone = false;
};

namespace pod_action {
/// Nothing to write to the ShadowPod or the pod's existence.
struct Nothing {};
/// An object of somebody else has the name at the provider: a Warning FailedReflection on the local pod; no retry.
struct RefuseForeign {
  std::string message;
};
/// The ShadowPod was created and is not in the cache yet. After a time the caller reads it live and, if it does not
/// exist, forgets `PodMemory::shadow_created`.
struct AwaitShadow {};
/// A POST of the ShadowPod is in doubt and could run the pod again after what is due now: look again when it can no
/// longer be carried out.
struct AwaitOrder {};
/// POST the forged ShadowPod. AlreadyExists is no error: the cache will show it.
struct CreateShadow {};
/// The ShadowPod is ours and alive: `plan_shadow_pod_update` says whether it needs a patch.
struct KeepShadow {};
/// PATCH the ShadowPod (`grace_patch`): its pod is to end within other seconds than its own grace time. If the provider
/// refuses that, or has not followed within `grace_patience`, the caller sets `PodMemory::grace_given_up`.
struct SendGrace {
  std::int64_t seconds;
};
/// The ShadowPod says within how many seconds its pod is to end: wait until the provider has deleted the pod so.
struct AwaitEnding {
  std::int64_t seconds;
};
/// DELETE the ShadowPod with this UID as precondition.
struct DeleteShadow {
  std::string uid;
  /// The caches may lag behind each other: first read the local pod live, and delete only if it is absent or its UID
  /// is not `owner_uid` (the UID that the ShadowPod was made for; "" = unknown: only if it is absent).
  bool confirm_first = false;
  std::string owner_uid;
  /// The ShadowPod stays until its pod, whose grace time is long, is gone: it can say meanwhile that the pod is to end
  /// sooner.
  bool foreground = false;
};
/// DELETE the local pod with grace period 0 and its UID as precondition: nothing of it is left remotely. If others have
/// finalizers on it, its phase becomes final first (`needs_final_phase`).
struct RemoveLocal {};
/// DELETE the local pod with its own grace time and this UID as precondition, after a look at the live remote pod: it
/// must still be there, being deleted, with `remote_uid`. The owner of the pod can then replace it. A replacement of
/// the same name waits until the remote pod is gone, because the local one stays until then.
struct EvictLocal {
  std::string uid, remote_uid;
};
/// Nothing of the pod is left in the twin that its namespace had: `plan_unmapped_pod` decides.
struct Reject {};
/// Make the local pod Failed (`forge_rejection`): it ran, what ran is gone, and it must not run a second time; or it
/// never ran, never can on its node, and its controller makes another one.
struct FailLocal {
  std::string reason, message;
  bool never_ran = false;
};
/// Make the local pod Failed (`forge_node_debugger_refusal`): a virtual node has nothing that it could look at.
struct RefuseNodeDebugger {};
}  // namespace pod_action

/// One step about a pod at home and its ShadowPod.
using PodAction =
    std::variant<pod_action::Nothing, pod_action::RefuseForeign, pod_action::AwaitShadow, pod_action::AwaitOrder,
                 pod_action::CreateShadow, pod_action::KeepShadow, pod_action::SendGrace, pod_action::AwaitEnding,
                 pod_action::DeleteShadow, pod_action::RemoveLocal, pod_action::EvictLocal, pod_action::Reject,
                 pod_action::FailLocal, pod_action::RefuseNodeDebugger>;

/// What to do about a pod at home.
struct PodPlan {
  PodAction action;
  /// After the action: bring the status home (`forge_local_status`, `status_patch`).
  bool copy_status = false;
  /// The action cannot be taken back, and an earlier process may have offloaded the pod: first read live whether the
  /// provider has of it what the caches have.
  bool confirm_first = false;
};

/// What the caches, which are complete, have of one name in one mapped namespace; null if there is nothing.
struct PodSight {
  const kube::Object* local = nullptr;   ///< a pod of this node
  const kube::Object* shadow = nullptr;  ///< the ShadowPod of that name at the provider
  const kube::Object* remote = nullptr;  ///< the Pod of that name at the provider
};

/// Decides. Identity is the local pod's UID: a ShadowPod for another UID is deleted and waited for, never adopted; one
/// without a UID (Go version) is accepted.
PodPlan plan_pod(const PodSight& seen, const PodMemory& memory, const ForgingContext& ctx);

/// Decides about a pod of a namespace whose twin has been withdrawn and is still there. Nothing new is sent; a pod at
/// home stays as long as something of it is at the provider, so that whoever replaces it elsewhere does so after its
/// end.
PodPlan plan_withdrawn_pod(const PodSight& seen, const PodMemory& memory, const ForgingContext& ctx);

/// What is to be done about a pod on the node whose namespace has no twin.
enum class UnmappedPodPlan {
  nothing,
  remove_local,          ///< as `pod_action::RemoveLocal`
  back_off,              ///< `forge_rejection` Pending, OffloadingBackOff: it may start once the namespace is mapped
  refuse_node_debugger,  ///< as `pod_action::RefuseNodeDebugger`
  abort,                 ///< `forge_rejection` Failed, OffloadingAborted: it ran and cannot any more
};
/// Decides about a pod whose namespace has no twin. `why`: the sentence for a rejection; a pod that waits and shows
/// another one gets this one. `troubled`: the provider reports trouble with the twin, where the pod may go on running;
/// nothing is aborted then.
UnmappedPodPlan plan_unmapped_pod(const kube::Object& local, std::string_view why, bool troubled);

/// Whether a container of the pod was ever started, as far as its status shows.
bool has_started(const kube::Object& pod);
/// The restarts of the pod at home that stand for remote pods which were made again, as its annotation has them: 0 if
/// that is no such number, and no more than a restart count can be.
std::int64_t recorded_restarts(const kube::Object& pod);
/// Whether a container of the pod has ended, as far as its status shows. At home the restarts that stand for remote
/// pods which were made again do not count.
bool has_ended_container(const kube::Object& pod);
/// Whether nothing of a pod that is being deleted runs any more, or ever will: it has ended, or has no node. A
/// finalizer may hold what is left of it.
bool is_over(const kube::Object& pod);
/// Whether the provider makes another pod when this one, which is being deleted, is gone: it restarts always, has no
/// node, or restarts on failure and none of its containers has ended.
bool is_made_again(const kube::Object& pod);
/// How much longer than its grace time a remote pod may take to end until its node counts as dead.
inline constexpr kube::Duration ending_patience = std::chrono::seconds(60);
/// How long the end of a remote pod that is being deleted may take in all. Nothing if there is no end to wait for: it
/// is not being deleted, or has ended and is only held for our own record.
std::optional<kube::Duration> ending_may_take(const kube::Object& remote);
/// Whether the remote pod is surely that of this local one, and has started.
bool is_run_of(const kube::Object& remote, const kube::Object& local, const ClusterPair& clusters);
/// Whether the pod cannot be placed or a container cannot be started, which is worth a report.
bool is_stuck(const kube::Object& pod);

/// How long the steps of a remote pod's start are not shown at home: most pods run sooner. In a rollout that saturates
/// the provider a start takes seconds: with 3 s here every pod cost one more write at the busiest time.
inline constexpr kube::Duration starting_time = std::chrono::seconds(10);
/// How long `copy_status` may still wait: each step on the way to Running (made, placed, being created) would be a
/// write of its own, and the next one follows in a moment. Zero: the time is over, and the caller may write within its
/// budget. Nothing for trouble, for a container that has started and for what corrects the status at home: these never
/// wait. `known_for`: time since the remote pod was first seen.
std::optional<kube::Duration> status_may_wait(const kube::Object& local, const kube::Object& remote,
                                              kube::Duration known_for);

/// `spec.restartPolicy` is Always (the default).
bool restarts_always(const kube::json::object& pod_spec);

}  // namespace liqo::core
