// From a ShadowPod to the Pod that runs at the provider.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/addresses/ip.hpp"
#include "liqo/core/admission/pod_policy.hpp"
#include "liqo/core/quota/pod_requests.hpp"

namespace liqo::core {

/// The Pod to create: name, namespace and labels of the ShadowPod, the annotations and tolerations of it that the
/// tenant's policy lets onto pods, its spec, the controller's owner reference, and the finalizer that holds it until
/// its end is recorded unless it restarts always. What was left out is named in the annotation
/// `offloading.liqo.io/left-out` (core/offloading/left_out.hpp). `api_server_ips` remaps host aliases of
/// `kubernetes.default` (null: they stay).
kube::Object forge_provider_pod(const kube::Object& shadow, const IpMapping* api_server_ips = nullptr,
                                const admission::PodPolicy& policy = {});

/// A strategic merge patch that brings labels, annotations, images, activeDeadlineSeconds and added tolerations of the
/// ShadowPod to its Pod, or nullopt. What others put on the Pod stays, and so does what the policy let onto it when it
/// was made.
std::optional<kube::json::object> plan_provider_pod_update(const kube::Object& shadow, const kube::Object& pod,
                                                           const admission::PodPolicy& policy = {});

/// Whether the Pod notes that all of the ShadowPod that may change has been brought to it, or refused.
bool has_all_of(const kube::Object& shadow, const kube::Object& pod);

/// Has every container say how much cpu and memory it requests, 0 where neither it nor a LimitRange does: a
/// ResourceQuota on these refuses pods that leave it open. A pod with resources of its own needs none of that.
void name_requests(kube::json::object& pod_spec, std::span<const Needs> limit_ranges);

/// The addresses, as home says them, by which the pod of a ShadowPod finds the API server of its home: those of its
/// host aliases.
std::vector<std::string> home_api_server_addresses(const kube::Object& shadow);

}  // namespace liqo::core
