#include "core/admission/pod_metadata.hpp"

#include <algorithm>

#include "core/admission/key_table.hpp"

namespace liqo::core::admission {
namespace json = kube::json;
namespace {

/// The longest part of a key that is shown as left out.
constexpr std::size_t max_shown_key = 100;
/// Kubernetes takes no longer keys, so two different keys never make the same finding.
constexpr std::size_t max_key = 317;

/// Kubernetes adds tolerations of these taints to every pod.
constexpr std::string_view everybodys_taints[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};

Finding finding(std::string_view what, std::string_view key, std::string_view reason) {
  return {std::string(what) + " " + std::string(key.substr(0, max_key)), std::string(reason)};
}

}  // namespace

std::vector<Finding> check_pod_metadata(const kube::Object& shadow, const PodPolicy& policy, std::size_t max_found) {
  std::vector<Finding> findings;
  for (const auto& [key, value] : shadow.labels()) {
    if (findings.size() >= max_found) return findings;
    if (is_reserved_label(key) && !lists_key(policy.labels, key))
      findings.push_back(finding("label", key,
                                 "is an order to what runs in this cluster, such as a mesh or a network plugin; the "
                                 "policy key labels would allow it"));
  }
  for (const auto& [key, value] : shadow.annotations()) {
    if (findings.size() >= max_found) return findings;
    const std::string_view name = key;
    if (name.starts_with("kubernetes.io/config."))
      findings.push_back(finding("annotation", name, "makes a pod one of the node itself"));
    if (name.starts_with("container.apparmor.security.beta.kubernetes.io/") && value == "unconfined" &&
        !policy.unconfined)
      findings.push_back(
          finding("annotation", name, "takes the confinement away; the policy key unconfined would allow it"));
  }
  return findings;
}

KeptAnnotations kept_annotations(const kube::Object& shadow, const PodPolicy& policy) {
  KeptAnnotations split;
  for (const auto& [key, value] : shadow.annotations()) {
    if (is_common_annotation(key) || lists_key(policy.annotations, key))
      split.kept[key] = value;
    else
      split.left_out.push_back("annotation " + std::string(std::string_view(key).substr(0, max_shown_key)));
  }
  return split;
}

KeptTolerations kept_tolerations(const json::object& pod_spec, const PodPolicy& policy) {
  KeptTolerations split;
  for (const json::value& entry : kube::array_at(pod_spec, {"tolerations"})) {
    const std::string_view key = kube::string_at(entry, {"key"});
    if (std::ranges::find(everybodys_taints, key) != std::ranges::end(everybodys_taints) ||
        lists_key(policy.tolerations, key))
      split.kept.push_back(entry);
    else
      split.left_out.push_back(key.empty() ? "toleration of every taint"
                                           : "toleration of " + std::string(key.substr(0, max_shown_key)));
  }
  return split;
}

}  // namespace liqo::core::admission
