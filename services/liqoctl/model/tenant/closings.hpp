// Cordoned or drained tenants and slices of a provider, and slices that are being deleted, as both sides show them: as
// a state, and not as a fault. Pure.
// Tested by test/unit/liqoctl/model/tenant/closings_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// "Cordoned" or "Drained", if the provider has done so to the slice or to its consumer; "" otherwise. Known by the
/// answer in the status, which both sides have. For a slice of a class of the provider's own, at the provider also by
/// the marks.
std::string_view closing_of(const kube::Object& slice);

/// The state of a slice in one word: "Deleting", that of closing_of(), "Accepted", "Denied", or "Pending" while an
/// answer is missing.
std::string_view state_of_slice(const kube::Object& slice);

/// The present grant of a slice: nothing if it is drained, although its status keeps the earlier amounts.
const kube::json::object& granted_now(const kube::Object& slice);

/// Whether a Quota of this cluster takes no new pods because its slice or its consumer is drained. The consumer's
/// Tenant is known by its namespace.
bool is_quota_drained(const kube::Object& quota, const std::vector<kube::Object>& tenants);

/// The answer to a lent slice in words for a reader at the provider (core::in_provider_words()). Text about a slice
/// that this cluster takes stays as it is.
std::string answer_in_words(const kube::Object& slice, std::string_view message);

/// The condition of a Tenant, "Active" if it has none.
std::string tenant_condition(const kube::Object& tenant);

/// The objects of one cluster that show what is cordoned, drained or being deleted.
struct ClosingObjects {
  std::vector<kube::Object> slices;   ///< both directions
  std::vector<kube::Object> tenants;  ///< of consumers of this cluster
  std::vector<kube::Object> quotas = {};
  std::vector<kube::Object> virtual_nodes = {}, nodes = {};  ///< towards providers
};

/// What is cordoned, drained or being deleted between this cluster and a peer. Each is one clause, which says by whom
/// and how it ends: "Tenant rome is Cordoned here (liqoctl uncordon tenant rome)", "slice batch is Drained by milan".
/// The Tenant comes first, and hides what follows from it.
std::vector<std::string> closings_with(std::string_view peer, const ClosingObjects& objects);

/// The amounts lent to a consumer: "1 slice (cpu 2, memory 4Gi)", "nothing yet", "nothing new: drained; its pods hold
/// cpu 1".
std::string lent_to(std::string_view consumer, const ClosingObjects& objects);

}  // namespace liqoctl::model
