// From a ShadowPod to the Pod that runs at the provider.
#pragma once

#include <optional>
#include <string>

#include "kube/k8s/object.hpp"
#include "liqo/core/mapping/ip.hpp"

namespace liqo::core {

/// The Pod to create: name, namespace, labels and annotations of the ShadowPod, its spec, the controller's owner
/// reference, and the finalizer that holds it until its end is recorded unless it restarts always. `api_server_ips`
/// remaps host aliases of `kubernetes.default` (null: they stay).
kube::Object forge_provider_pod(const kube::Object& shadow, const IpMapping* api_server_ips = nullptr);

/// A strategic merge patch that brings labels, annotations, images, activeDeadlineSeconds and added tolerations of the
/// ShadowPod to its Pod, or nullopt. What others put on the Pod stays.
std::optional<kube::json::object> plan_provider_pod_update(const kube::Object& shadow, const kube::Object& pod);

}  // namespace liqo::core
