// The pod policy of a consumer, as `set tenant` changes it, and as commands show it. Pure.
// Tested by test/unit/liqoctl/model/tenant/tenant_policy_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/k8s/object.hpp"
#include "model/findings.hpp"

namespace liqoctl::model {

/// The changes to a policy, as typed. `unset` is applied first, so that a key can be written afresh.
struct PolicyChange {
  std::vector<std::string> unset;           ///< keys
  std::vector<std::string> max, max_slice;  ///< "cpu=3,memory=8Gi"
  std::vector<std::string> allow, forbid;   ///< "hostPorts", "capabilities=NET_ADMIN,SYS_PTRACE"
  std::string consumer;                     ///< its cluster ID
  bool replace = false;                     ///< nothing of the stored policy is kept

  bool only_takes_away() const { return max.empty() && max_slice.empty() && allow.empty() && forbid.empty(); }
  bool is_empty() const { return !replace && unset.empty() && only_takes_away(); }
};

struct ChangedPolicy {
  kube::json::object before, after;
  /// Keys of `after` that this version does not know.
  std::vector<std::string> unknown;
  /// A sentence for each list that `before` lacks, because without the list more was allowed.
  std::vector<std::string> narrowed;
  std::string unreadable;  ///< the stored text if it could not be read, cut and printable; `before` is empty then
  bool changes() const { return before != after || !unreadable.empty(); }
  /// Whether nothing bounds the consumer's grants any more.
  bool is_unlimited() const { return !after.contains("maxResources") && !after.contains("maxSliceResources"); }
  /// The value of the annotation; "" = none is needed.
  std::string text() const { return after.empty() ? "" : kube::json::serialize(after); }
};

/// Checks the flags as far as they do not depend on the stored policy. Errors: Errc::invalid_input, one line with the
/// wrong flag.
kube::Result<void> check_change(const PolicyChange& change);

/// Makes the changes, and keeps the rest, including keys that only another version knows. Errors, one line each:
/// Errc::parse if the stored policy is no JSON object and is not replaced. Errc::invalid_input with the wrong flag, for
/// a result that could not be read, or with the flag that removes a misspelt stored key.
kube::Result<ChangedPolicy> change_policy(std::string_view annotation, const PolicyChange& change);

/// A line for each key that is removed ("-"), added ("+") or kept. Of a changed list, lines for the names that are
/// removed, added or kept.
std::string policy_diff(const ChangedPolicy& policy);

/// A key, and its value in words: "cpu 3, memory 8Gi", "NET_ADMIN, SYS_PTRACE", "true".
using PolicyFields = std::vector<std::pair<std::string, std::string>>;
PolicyFields policy_fields(const kube::json::object& policy);

/// The keys in one line: "maxResources (cpu 3), hostPorts"; "default" if there is no policy; a mark and the reason if
/// it cannot be read. Cut to at most `max` bytes, and a mark.
std::string policy_in_words(std::string_view annotation, std::size_t max);

/// The sentence that no consumer has that ID, with the nearest of those that have a tenant namespace.
std::string unknown_consumer(std::string_view id, const std::vector<kube::Object>& tenant_namespaces);
/// Checks that the namespace holds the policy of that consumer. Errors: Errc::invalid_input if it is another peer's, or
/// no tenant namespace.
kube::Result<void> check_tenant_namespace(std::string_view consumer, const kube::Object& ns);

/// The objects of a peer besides its tenant namespace.
struct PeerTraces {
  std::optional<kube::Object> peer;  ///< its ForeignCluster
  bool has_tenant = false, has_user = false;
};
/// Checks that a policy can bind the peer. No setting here binds a peer that only provides. Errors:
/// Errc::invalid_input.
kube::Result<void> check_is_consumer(std::string_view id, const PeerTraces& traces);

/// Adds the policy of each Tenant to it, as an annotation, to be shown: it is stored on the Tenant's namespace. A
/// Tenant whose namespace is missing, or is another peer's, gets none.
void add_policies(std::vector<kube::Object>& tenants, const std::vector<kube::Object>& namespaces);

/// For a Tenant that add_policies() has seen: that its policy cannot be read, and what to do; "" if it can be.
std::string policy_alert(const kube::Object& tenant);

/// Whether the policies of all consumers can be read; no value if there is no consumer.
std::optional<Finding> judge_policies(const std::vector<kube::Object>& tenant_namespaces);

}  // namespace liqoctl::model
