// The last status of a pod at home, before it is removed while finalizers of others are on it.
#pragma once

#include <optional>
#include <string_view>

#include "core/offloading/pod_status.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

struct PodMemory;

/// Exit code and reason that kubelets write for a container whose end they have not seen.
inline constexpr int unknown_exit_code = 137;
inline constexpr std::string_view container_status_unknown = "ContainerStatusUnknown";

/// Whether somebody has a finalizer on the pod, and its phase is not final. Such a pod outlives its removal, and
/// whoever waits for its end looks at the phase. A Job (finalizer `batch.kubernetes.io/job-tracking`) with a
/// podFailurePolicy or the podReplacementPolicy `Failed` counts and replaces a pod that is being deleted only by its
/// phase (KEP-3329, KEP-3939). Kubelets and Kubernetes' collector of pods set it before they remove a pod.
bool needs_final_phase(const kube::Object& pod);

/// Whether the pod has been removed, has its final phase, and only finalizers of others keep what is left of it:
/// nothing is to be done about it any more, and nothing has to wait for it.
bool is_only_held(const kube::Object& pod);

/// How the pod's own containers have ended, as its status shows.
enum class ContainerEnds { unknown, failed, succeeded };
ContainerEnds container_ends(const kube::Object& pod);

/// Whether a container of the pod may ever have been started: its status at home says so, or its remote pod had a node.
/// Without a proof that it never ran, it may have. There is no proof if only the annotation of the pod at home shows
/// that there was a remote pod, or if an order was taken or got no answer. There is none either if an earlier process
/// may have ordered the pod, unless home shows that the provider did not take it.
bool may_have_run(const kube::Object& local, const PodMemory& memory);

/// The status of a pod that is about to be removed, of which nothing more will be heard:
/// - Succeeded, or Failed, if all of its containers are known to have ended;
/// - Failed if it never ran, with the containers as they are;
/// - Failed if nobody knows how it ended: containers whose end is not known have exit code 137, as kubelets write.
/// In the last two cases it has the condition `DisruptionTarget`: the pod did not end by itself.
WantedStatus forge_final_status(const kube::Object& local, bool may_have_run, kube::WallTime now);

}  // namespace liqo::core
