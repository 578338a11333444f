// What a provider has cordoned or drained, and slices that are being deleted, as both sides are shown it: a state, and
// nothing that is broken. Pure.
// Tested by test/unit/liqoctl/model/tenant/closings_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// "Cordoned" or "Drained", where the provider has done so to the slice or to its consumer; "" otherwise. Known by the
/// answer in the status, which both sides have; at the provider also by the marks on a slice of a class of its own.
std::string_view closing_of(const kube::Object& slice);

/// The state of a slice in one word: "Deleting", what closing_of() says, "Accepted", "Denied", or "Pending" while not
/// all is answered.
std::string_view state_of_slice(const kube::Object& slice);

/// What a slice is granted now: nothing where it is drained, although its status keeps the amounts of before.
const kube::json::object& granted_now(const kube::Object& slice);

/// Whether the pods of a Quota of this cluster get nothing new, because its slice or its consumer is drained. The
/// consumer's Tenant is known by its namespace.
bool is_quota_drained(const kube::Object& quota, const std::vector<kube::Object>& tenants);

/// The answer to a lent slice as who reads it here, at the provider, understands it (core::in_provider_words()). Text
/// about a slice that this cluster takes is as it is.
std::string answer_in_words(const kube::Object& slice, std::string_view message);

/// The condition of a Tenant, "Active" where it has none.
std::string tenant_condition(const kube::Object& tenant);

/// Objects of one cluster by which is known what is cordoned, drained or being deleted.
struct ClosingObjects {
  std::vector<kube::Object> slices;   ///< both directions
  std::vector<kube::Object> tenants;  ///< of consumers of this cluster
  std::vector<kube::Object> quotas = {};
  std::vector<kube::Object> virtual_nodes = {}, nodes = {};  ///< towards providers
};

/// What is cordoned, drained or being deleted between this cluster and a peer, each in one clause that says by whom and
/// how it ends: "Tenant rome is Cordoned here (liqoctl uncordon tenant rome)", "slice batch is Drained by milan". The
/// Tenant comes first, and hides what follows from it.
std::vector<std::string> closings_with(std::string_view peer, const ClosingObjects& objects);

/// What a consumer is lent: "1 slice (cpu 2, memory 4Gi)", "nothing yet", "nothing new: drained; its pods hold cpu 1".
std::string lent_to(std::string_view consumer, const ClosingObjects& objects);

}  // namespace liqoctl::model
