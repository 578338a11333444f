// From a pod at home to the ShadowPod that orders it at the provider.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// A ShadowPod to create, and what of the pod it cannot carry.
struct ForgedShadowPod {
  kube::Object shadow;
  /// Fields of the pod that have an effect at home and none remotely, e.g. "hostNetwork", for one Event.
  std::vector<std::string> dropped_fields;
  /// Fields of the pod that hold something else remotely (core/offloading/dropped_fields.hpp), for the same Event.
  std::vector<std::string> foreign_fields;
  /// The sentence of the Event about a namespace that the pod reads (core/offloading/pod_reads.hpp); "" = none.
  std::string read_namespace;
};

/// Forges the ShadowPod of a pod that is first sent. `remote_namespace` is the twin of the pod's namespace.
/// Errors: Errc::invalid_input if the node's name cannot be a label value, the pod has no spec or UID, or it reads too
/// much about itself.
kube::Result<ForgedShadowPod> forge_shadow_pod(const kube::Object& local_pod, std::string_view remote_namespace,
                                               const ForgingContext& ctx);

/// How one pod reaches the API server: by the mode and its needs, unless its annotation asks for `disabled` or
/// `remote`.
ApiServerSupport api_server_support_of(const kube::Object& local_pod, const ForgingContext& ctx);

/// The sentence for a pod that gets, or would get, tokens for an API server whose address is not known, or that asks
/// another one by a name; "" = no trouble. `has_tokens`: its ShadowPod mounts them already.
std::string api_server_trouble(const kube::Object& local_pod, const ForgingContext& ctx, bool has_tokens);

}  // namespace liqo::core
