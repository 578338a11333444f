// From a ShadowPod to the Pod that runs at the provider.
// Tested by test/unit/core/offloading/shadow_plan_test.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/common/ip.hpp"
#include "core/policy/pod_policy.hpp"
#include "core/quota/pod_requests.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The Pod to create. It has the ShadowPod's name, namespace, labels and spec, those of its annotations and tolerations
/// that the tenant's policy allows, the ShadowPod as its controller, and, unless it restarts always, the finalizer that
/// holds it until its end is recorded. What was left out is named in the annotation `offloading.liqo.io/left-out`
/// (core/offloading/left_out.hpp). `api_server_ips` remaps host aliases of `kubernetes.default` (null: they stay).
kube::Object forge_provider_pod(const kube::Object& shadow, const IpMapping* api_server_ips = nullptr,
                                const PodPolicy& policy = {});

/// A strategic merge patch that brings labels, annotations, images, activeDeadlineSeconds and added tolerations of the
/// ShadowPod to its Pod, or nullopt. What others added to the Pod stays, and so does what the policy allowed when it
/// was created.
std::optional<kube::json::object> plan_provider_pod_update(const kube::Object& shadow, const kube::Object& pod,
                                                           const PodPolicy& policy = {});

/// Whether the Pod notes that every change of its ShadowPod has been brought to it or refused.
bool has_all_of(const kube::Object& shadow, const kube::Object& pod);

/// Sets the cpu or memory request of a container to 0 if neither its requests and limits nor a LimitRange name an
/// amount, because a ResourceQuota on these refuses pods that leave it open. A pod with pod-level resources stays as it
/// is.
void name_requests(kube::json::object& pod_spec, std::span<const Needs> limit_ranges);

/// The addresses of the home API server in the host aliases of a ShadowPod, as the consumer knows them.
std::vector<std::string> home_api_server_addresses(const kube::Object& shadow);

}  // namespace liqo::core
