// What a provider has cordoned or drained, as both sides are shown it: a state, and nothing that is broken. Pure.
// Tested by test/unit/liqoctl/closings_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// "Cordoned" or "Drained", where the provider has done so to the slice or to its consumer; "" otherwise. Known by the
/// answer in the status, which both sides have; at the provider also by the marks on a slice of a class of its own.
std::string_view closing_of(const kube::Object& slice);

/// The state of a slice in one word: what closing_of() says, "Accepted", "Denied", or "Pending" while not all is
/// answered.
std::string_view state_of_slice(const kube::Object& slice);

/// The condition of a Tenant, "Active" where it has none.
std::string tenant_condition(const kube::Object& tenant);

/// Objects of one cluster by which cordons and drains are known.
struct ClosingObjects {
  std::vector<kube::Object> slices;   ///< both directions
  std::vector<kube::Object> tenants;  ///< of consumers of this cluster
};

/// What is cordoned or drained between this cluster and a peer, each in one clause that says by whom and how it ends:
/// "Tenant rome is Cordoned here (liqoctl uncordon tenant rome)", "slice batch is Drained by milan". The Tenant comes
/// first, and hides what follows from it.
std::vector<std::string> closings_with(std::string_view peer, const ClosingObjects& objects);

/// What a consumer is lent: "1 slice (cpu 2, memory 4Gi)", "nothing yet".
std::string lent_to(std::string_view consumer, const std::vector<kube::Object>& slices);

}  // namespace liqoctl::model
