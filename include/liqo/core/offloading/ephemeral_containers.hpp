// Ephemeral containers, by which people debug a pod that runs: from the pod at home to its ShadowPod, from there to the
// Pod at the provider, and how they fare back home. Kubernetes lets them be added, and never changed, removed or
// started again. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"
#include "liqo/core/admission/pod_policy.hpp"
#include "liqo/core/offloading/context.hpp"
#include "liqo/core/offloading/pod_status.hpp"

namespace liqo::core {

/// At home: a JSON merge patch for the ShadowPod that adds the first ephemeral container which the pod has more, or
/// nullopt: one at a time, so that what the provider says against it is said of no other. Not those that have run or
/// ended already, as the status at home says: they run once. It carries the ShadowPod's UID and resourceVersion.
std::optional<kube::json::object> plan_shadow_ephemeral(const kube::Object& local_pod, const kube::Object& shadow,
                                                        const ForgingContext& ctx);

/// Whether the provider's liqod brings ephemeral containers to this Pod: those of the Go version do not.
bool takes_ephemeral(const kube::Object& remote);

/// At the provider: the first ephemeral container that the Pod lacks.
struct EphemeralAddition {
  std::string name;
  /// Strategic merge patch for `pods/<name>/ephemeralcontainers`, with the Pod's resourceVersion.
  kube::json::object patch;
};
/// One at a time, so that one which the cluster refuses holds up no other. Nothing for those that the Pod notes as left
/// out.
std::optional<EphemeralAddition> plan_ephemeral_addition(const kube::Object& shadow, const kube::Object& pod,
                                                         const admission::PodPolicy& policy);

/// The strategic merge patch that notes on the Pod, with its UID, that it does not get this one, and why.
kube::json::object ephemeral_refusal_patch(const kube::Object& pod, std::string_view name, std::string_view words);

/// Notes on a Pod that is made again which ephemeral containers its ShadowPod has: they belonged to the one before.
void leave_out_ephemeral(kube::Object& pod, const kube::Object& shadow);

/// Back home: `status.ephemeralContainerStatuses`, where the Pod at the provider is there. What the provider reports of
/// those that the pod has; those that it does not run have ended, and say why, once and for all. `refusal`: what the
/// provider says against the first that the ShadowPod lacks, "" = nothing.
kube::json::array ephemeral_statuses(const StatusSources& of, std::string_view provider, std::string_view refusal);

/// The containers of a pod at home that its provider does not run, and the sentences that say so.
std::map<std::string, std::string> refused_containers(const kube::Object& local_pod);

}  // namespace liqo::core
