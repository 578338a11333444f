// Which labels and annotations of a ShadowPod are a reason to refuse its Pod.
#pragma once

#include <vector>

#include "core/admission/pod_firewall.hpp"
#include "core/policy/pod_policy.hpp"

namespace liqo::core::admission {

/// Checks what becomes the metadata of the pod: labels of reserved domains, unless they
/// are left out of the pod (`kept_labels`), and annotations that make it a pod of the
/// node itself or take its confinement away. Other annotations are no reason to refuse a pod, whatever they are: see
/// `kept_annotations` (kept_metadata.hpp). Stops after `max_found` findings.
std::vector<Finding> check_pod_metadata(const kube::Object& shadow, const PodPolicy& policy,
                                        std::size_t max_found = max_findings);

}  // namespace liqo::core::admission
