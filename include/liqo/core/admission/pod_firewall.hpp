// The pod firewall of a provider: a ShadowPod is data from outside, and every field of its pod is let pass by a row of
// one table, or it is refused.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "liqo/core/admission/pod_policy.hpp"

namespace liqo::core::admission {

/// Why one field is refused.
struct Finding {
  std::string path;    ///< e.g. "spec.pod.containers[0].securityContext.privileged"
  std::string reason;  ///< a clause that goes on after the path, e.g. "takes a port of the node"
  bool operator==(const Finding&) const = default;
};

/// At most this many findings are collected: a refusal is read by a person.
inline constexpr std::size_t max_findings = 8;

/// Checks the PodSpec of a ShadowPod. Empty: it may run here as far as the firewall is concerned.
std::vector<Finding> check_pod(const kube::json::object& pod_spec, const PodPolicy& policy);

/// Checks what becomes the metadata of the pod: annotations that container runtimes take orders from.
std::vector<Finding> check_pod_metadata(const kube::Object& shadow, const PodPolicy& policy);

/// One sentence for all findings.
std::string describe(std::span<const Finding> findings);

/// What the table says about one field of one type, for tests that compare it with what a cluster serves.
struct FirewallField {
  std::string_view type, field;  ///< e.g. "Container", "ports"
  std::string_view of;           ///< type of the objects in it; "" where the field is a leaf
  bool never = false;            ///< refused whatever it holds, so that nothing below it has a row
};
std::span<const FirewallField> firewall_fields();

}  // namespace liqo::core::admission
