// The scheduling constraints of the pod at the provider, made from the offloading patch and the pod's annotations.
// Tested by test/unit/core/offloading/shadow_pod_test.cpp.
#pragma once

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// `spec.affinity` of the remote pod, empty if none. `labels` are those of the ShadowPod; `excludes_virtual_nodes` adds
/// that no virtual node of the provider is chosen.
kube::json::object forge_affinity(const kube::Object& local_pod, const kube::json::object& labels,
                                  const ForgingContext& ctx, bool excludes_virtual_nodes);

}  // namespace liqo::core
