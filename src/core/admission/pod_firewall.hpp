// The pod firewall of a provider: a ShadowPod comes from another cluster, and each field of its pod is refused unless a
// row of one table lets it pass.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/pod_policy.hpp"

namespace liqo::core::admission {

/// Why one field is refused.
struct Finding {
  std::string path;    ///< e.g. "spec.containers[0].securityContext.privileged"
  std::string reason;  ///< a clause that follows the path, e.g. "takes a port of the node"
  auto operator<=>(const Finding&) const = default;
};

/// The most findings that are collected for a new object and shown for any, because a person reads the refusal.
inline constexpr std::size_t max_findings = 8;
/// For an update all findings of the stored and of the new object are collected, so that a new one cannot hide behind
/// known ones.
inline constexpr std::size_t all_findings = static_cast<std::size_t>(-1);

/// Checks the PodSpec of a ShadowPod. Empty = the firewall lets it run. Tolerations always pass; those that the tenant
/// may not have are left out of the Pod (kept_metadata.hpp). Stops after `max_found` findings.
std::vector<Finding> check_pod(const kube::json::object& pod_spec, const PodPolicy& policy,
                               std::size_t max_found = max_findings);

/// Checks the spec of a PersistentVolumeClaim by the rows that hold for the templates of claims in pods; `path` is its
/// path in the findings. Which classes it may name is in claims.hpp.
std::vector<Finding> check_claim_fields(const kube::json::object& claim_spec, const PodPolicy& policy,
                                        const std::string& path, std::size_t max_found = max_findings);

/// Removes from `found` what is in `known`.
void keep_new(std::vector<Finding>& found, std::vector<Finding> known);

/// One sentence for the first `max_findings` of them.
std::string describe(std::span<const Finding> findings);

}  // namespace liqo::core::admission
