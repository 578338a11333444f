// Rules for what a consumer may write into its tenant namespace at the provider. RBAC lets its control plane write
// whole objects; these rules protect the parts that are the provider's.
// Tested by test/unit/core/admission/validations_test.cpp.
#pragma once

#include <string_view>

#include "core/admission/review.hpp"

namespace liqo::core::admission {

/// True for consumers' control planes and peering users: both are of the group `liqo.io`.
bool is_tenant(const User& user);
/// True for control planes and peering users of all consumers, and for users in the group `consumer`, as those of its
/// slices are ("" = none).
bool is_of_consumer(const User& user, std::string_view consumer);

/// Rules for what a consumer replicates into its tenant namespace (ResourceSlices, NamespaceMaps, Renews); everybody
/// else passes. A new object must be a replica of that consumer, in labels and in `spec.consumerClusterID`. A stored
/// one keeps the labels that say so and the marks by which the provider cordons. The status and the finalizers are the
/// provider's, and its size is bounded (written_size.hpp).
Answer check_replica(const Request& request);

/// Cuts what a consumer has written into a replica that is larger than `check_replica` lets in, which only an earlier
/// version has stored. The labels and annotations stay that say whose it is and what the provider has decided. The
/// texts in its spec stay long enough to show what is wrong with them. A NamespaceMap keeps its spec, because each
/// entry is a namespace.
void cut_large_replica(json::object& tree);

/// Rules for a Tenant that a peering user writes: it may present keys, but sets no policy. The annotations of Liqo
/// (`liqo.io/sharing-percentage`, `liqo.io/keep-pods`, …), the condition, the policy and the label that skips admission
/// stay as the provider's administrator has them, and the finalizers as this cluster has them; its size is
/// bounded (written_size.hpp). A new Tenant bears the `decisions` (core/peering/decisions.hpp) of the one before it.
Answer check_tenant_writer(const Request& request, std::string_view decisions = "");

/// Rules for a Secret that a consumer creates in a namespace of `consumer` ("" if it is no consumer's). None of its
/// identities gets a token of this cluster by the type of a Secret. In the tenant namespace the peering user has the
/// right to create Secrets, and RBAC cannot confine it to a name. There only the empty Secret that asks for a nonce
/// passes: another one could have this cluster sign a text, or connect to a server.
Answer check_secret(const Request& request, std::string_view consumer);

}  // namespace liqo::core::admission
