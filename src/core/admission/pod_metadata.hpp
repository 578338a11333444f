// What of a ShadowPod's labels, annotations and tolerations reaches its Pod.
#pragma once

#include <string>
#include <vector>

#include "liqo/core/admission/pod_firewall.hpp"
#include "liqo/core/admission/pod_policy.hpp"

namespace liqo::core::admission {

/// Checks what becomes the metadata of the pod: labels of reserved domains, and annotations that make the pod another.
/// Other annotations are no reason to refuse a pod, whatever they are: see `kept_annotations`.
/// Stops after `most` findings.
std::vector<Finding> check_pod_metadata(const kube::Object& shadow, const PodPolicy& policy,
                                        std::size_t most = max_findings);

/// The annotations that go onto the Pod: common ones, and those that the policy lists. What does not is appended to
/// `left_out`, as texts of core/offloading/left_out.hpp. A ShadowPod keeps them all, because a consumer that compares
/// would write it for ever.
kube::json::object kept_annotations(const kube::Object& shadow, const PodPolicy& policy,
                                    std::vector<std::string>& left_out);

/// The tolerations that go onto the Pod: those of nodes that are not ready or not reachable, which every pod has, and
/// of the taints that the policy lists. A pod with fewer of them has fewer nodes to run on, never more. What is
/// left out is appended to `left_out` likewise.
kube::json::array kept_tolerations(const kube::json::object& pod_spec, const PodPolicy& policy,
                                   std::vector<std::string>& left_out);

}  // namespace liqo::core::admission
