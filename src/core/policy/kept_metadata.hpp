// The labels, annotations and tolerations of a ShadowPod that reach its Pod.
#pragma once

#include <string>
#include <vector>

#include "core/policy/pod_policy.hpp"

namespace liqo::core {

/// The labels of a ShadowPod: those that go onto its Pod, and the others as texts of core/offloading/left_out.hpp.
struct KeptLabels {
  kube::json::object kept;
  std::vector<std::string> left_out;
};
/// All labels go onto the Pod but those of is_left_out_label(), unless the policy lists them. A ShadowPod keeps them
/// all, because a consumer that compares would write it again and again otherwise.
KeptLabels kept_labels(const kube::Object& shadow, const PodPolicy& policy);

/// The annotations of a ShadowPod: those that go onto its Pod, and the others as texts of core/offloading/left_out.hpp.
struct KeptAnnotations {
  kube::json::object kept;
  std::vector<std::string> left_out;
};
/// Common annotations go onto the Pod, and those that the policy lists. A ShadowPod keeps them all, because a consumer
/// that compares would write it again and again otherwise.
KeptAnnotations kept_annotations(const kube::Object& shadow, const PodPolicy& policy);

/// The text for an annotation that is left out: the beginning of its key.
std::string left_out_annotation(std::string_view key);

/// The tolerations of a ShadowPod: those that go onto its Pod, and the others as such texts.
struct KeptTolerations {
  kube::json::array kept;
  std::vector<std::string> left_out;
};
/// Tolerations of nodes that are not ready or not reachable go onto the Pod, which every pod has, and those of the
/// taints that the policy lists. A pod with fewer of them has fewer nodes to run on, never more.
KeptTolerations kept_tolerations(const kube::json::object& pod_spec, const PodPolicy& policy);

}  // namespace liqo::core
