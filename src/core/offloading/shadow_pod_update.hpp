// How an existing ShadowPod follows a change of the pod at home.
#pragma once

#include <optional>
#include <string>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// A JSON merge patch (application/merge-patch+json) for the ShadowPod, or nullopt if nothing differs. It covers what
/// reflection set in the metadata, and of the spec what Kubernetes lets change in a pod and the provider's admission
/// lets change in a ShadowPod: images, activeDeadlineSeconds, tolerations. It also confirms a ShadowPod that came late
/// (`core/offloading/order.hpp`). It carries the ShadowPod's UID and resourceVersion: a successor of the same name is
/// never touched, and a concurrent change answers 409.
std::optional<kube::json::object> plan_shadow_pod_update(const kube::Object& local_pod, const kube::Object& shadow,
                                                         const ForgingContext& ctx);

/// Why changes of what the pod reads about itself no longer follow, "" = they do.
std::string refuse_read_change(const kube::Object& local_pod, const kube::Object& shadow);

}  // namespace liqo::core
