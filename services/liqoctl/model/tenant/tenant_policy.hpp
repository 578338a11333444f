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

/// What is to become of a policy, as it was typed. `unset` comes first, so that a key can be written anew.
struct PolicyChange {
  std::vector<std::string> unset;           ///< keys
  std::vector<std::string> max, max_slice;  ///< "cpu=3,memory=8Gi"
  std::vector<std::string> allow, forbid;   ///< "hostPorts", "capabilities=NET_ADMIN,SYS_PTRACE"
  std::string consumer;                     ///< its cluster ID
  bool replace = false;                     ///< nothing is kept of what is stored

  bool only_takes_away() const { return max.empty() && max_slice.empty() && allow.empty() && forbid.empty(); }
  bool is_empty() const { return !replace && unset.empty() && only_takes_away(); }
};

struct ChangedPolicy {
  kube::json::object before, after;
  /// Keys of `after` that this version does not know.
  std::vector<std::string> unknown;
  /// Lists that `before` lacks: a sentence on each, because without the list more was allowed.
  std::vector<std::string> narrowed;
  std::string unreadable;  ///< what was stored, cut and printable, and gives way: `before` is empty then
  bool changes() const { return before != after || !unreadable.empty(); }
  /// Whether nothing bounds any more what the consumer is granted.
  bool is_unlimited() const { return !after.contains("maxResources") && !after.contains("maxSliceResources"); }
  /// As the annotation holds it; "" = none is needed.
  std::string text() const { return after.empty() ? "" : kube::json::serialize(after); }
};

/// Whether the flags can be right, whatever is stored. Errors: Errc::invalid_input, one line with the flag that is
/// wrong.
kube::Result<void> check_change(const PolicyChange& change);

/// Changes what is named, and keeps the rest, with the keys that only another version knows. Errors, one line each:
/// Errc::parse for a policy that is stored and no JSON object, unless it is replaced, Errc::invalid_input with the flag
/// that is wrong, for a result that could not be read, or with the flag that takes away a stored key that is misspelt.
kube::Result<ChangedPolicy> change_policy(std::string_view annotation, const PolicyChange& change);

/// A line for each key: those that go ("-"), come ("+") or stay. Of a list that changes, the names that go, come or
/// stay.
std::string policy_diff(const ChangedPolicy& policy);

/// A key, and its value in words: "cpu 3, memory 8Gi", "NET_ADMIN, SYS_PTRACE", "true".
using PolicyFields = std::vector<std::pair<std::string, std::string>>;
PolicyFields policy_fields(const kube::json::object& policy);

/// The keys in one line: "maxResources (cpu 3), hostPorts"; "default" where there is no policy; a mark and the reason
/// for one that cannot be read. Cut to at most `max` bytes, and a mark.
std::string policy_in_words(std::string_view annotation, std::size_t max);

/// Says that there is no consumer of that ID, and which of those that have a tenant namespace was perhaps meant.
std::string unknown_consumer(std::string_view id, const std::vector<kube::Object>& tenant_namespaces);
/// Whether the namespace holds the policy of that consumer. Errors: Errc::invalid_input for one that is another peer's,
/// or no tenant namespace.
kube::Result<void> check_tenant_namespace(std::string_view consumer, const kube::Object& ns);

/// What there is of a peer besides its tenant namespace.
struct PeerTraces {
  std::optional<kube::Object> peer;  ///< its ForeignCluster
  bool has_tenant = false, has_user = false;
};
/// Whether a policy can bind the peer: one that only provides is bound by nothing that is set here. Errors:
/// Errc::invalid_input.
kube::Result<void> check_is_consumer(std::string_view id, const PeerTraces& traces);

/// Puts the policy of each Tenant on it, as an annotation, to be shown: its namespace has it. A Tenant whose namespace
/// is not there, or another peer's, gets none.
void add_policies(std::vector<kube::Object>& tenants, const std::vector<kube::Object>& namespaces);

/// Of a Tenant that add_policies() has seen: that its policy cannot be read, and what to do; "" where it can be.
std::string policy_alert(const kube::Object& tenant);

/// Whether the policies of all consumers can be read; nothing where there is no consumer.
std::optional<Finding> judge_policies(const std::vector<kube::Object>& tenant_namespaces);

}  // namespace liqoctl::model
