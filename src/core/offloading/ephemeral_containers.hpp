// Ephemeral containers, with which people debug a running pod: they are copied from the pod at home to its ShadowPod,
// from there to the Pod at the provider, and their statuses back. Kubernetes lets them be added, and never changed,
// removed or started again. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/common/forging_context.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/policy/pod_policy.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// At home: the JSON merge patch, with the ShadowPod's UID and resourceVersion, that adds the first ephemeral container
/// of the pod which the ShadowPod lacks; nullopt if it lacks none. Containers are added one at a time, so that a
/// refusal is about one of them. A container that has run or ended by the status at home is not added, because it runs
/// only once.
std::optional<kube::json::object> plan_shadow_ephemeral(const kube::Object& local_pod, const kube::Object& shadow,
                                                        const ForgingContext& ctx);

/// Whether the provider adds ephemeral containers to this Pod. A provider of the Go version does not.
bool takes_ephemeral(const kube::Object& remote);

/// At the provider: the first ephemeral container that the Pod lacks.
struct EphemeralAddition {
  std::string name;
  /// Strategic merge patch for `pods/<name>/ephemeralcontainers`, with the Pod's resourceVersion.
  kube::json::object patch;
};
/// The next addition to the Pod; nothing if it lacks none. It is one at a time, so that a refused container does not
/// hold up the others. Containers that the Pod notes as left out are skipped.
std::optional<EphemeralAddition> plan_ephemeral_addition(const kube::Object& shadow, const kube::Object& pod,
                                                         const PodPolicy& policy);

/// The strategic merge patch, with the Pod's UID, that notes on the Pod that it does not get this container, and why.
kube::json::object ephemeral_refusal_patch(const kube::Object& pod, std::string_view name, std::string_view words);

/// Notes on a Pod that is created again that it does not get the ephemeral containers of its ShadowPod: they belonged
/// to the Pod before it.
void leave_out_ephemeral(kube::Object& pod, const kube::Object& shadow);

/// At home: `status.ephemeralContainerStatuses` of a pod whose Pod at the provider exists. Containers of the pod have
/// the status that the provider reports; containers that the provider does not run have ended for good, with the
/// reason. `refusal`: why the provider refuses the first container that the ShadowPod lacks; "" = it does not.
kube::json::array ephemeral_statuses(const StatusObjects& of, std::string_view provider, std::string_view refusal);

/// Why the provider does not run a container of the pod at home, as its status there says; "" = that says nothing
/// against it. `container`: "" = whichever is the first that the provider does not run.
std::string why_refused(const kube::Object& local_pod, std::string_view container);

}  // namespace liqo::core
