#include "core/admission/pod_metadata.hpp"

#include "core/policy/key_table.hpp"

namespace liqo::core::admission {
namespace {

/// Kubernetes takes no longer keys, so two different keys never make the same finding.
constexpr std::size_t max_key = 317;

Finding finding(std::string_view what, std::string_view key, std::string_view reason) {
  return {std::string(what) + " " + std::string(key.substr(0, max_key)), std::string(reason)};
}

}  // namespace

std::vector<Finding> check_pod_metadata(const kube::Object& shadow, const PodPolicy& policy, std::size_t max_found) {
  std::vector<Finding> findings;
  for (const auto& [key, value] : shadow.labels()) {
    if (findings.size() >= max_found) return findings;
    const bool is_off = value.is_string() && is_left_out_label(key, value.get_string());
    if (is_reserved_label(key) && !is_off && !lists_key(policy.labels, key))
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

}  // namespace liqo::core::admission
