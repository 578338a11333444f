// The name of the twin of an offloaded namespace, and the names that no twin may have.
// Tested by test/unit/core/namespaces/namespace_offloading_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "liqo/api/namespace_offloading.hpp"

namespace liqo::core {

/// The name of the twins that a NamespaceOffloading asks for. EnforceSameName: the name of its namespace; DefaultName:
/// that name and `-<local cluster>`; SelectedName: the name in its spec. Errors: Errc::invalid_input, with a sentence
/// that says what to do, for a name that is no RFC 1123 label of at most 63 characters or begins with `kube-`.
kube::Result<std::string> remote_namespace_name(const api::NamespaceOffloading& offloading,
                                                std::string_view local_cluster);

/// Why a provider gives no consumer a namespace of this name; "" if it may. Refused are names that are invalid, belong
/// to Kubernetes' own namespaces, to Liqo's, or to the namespace of the real claims (even if it does not exist yet),
/// and names that a tenant namespace may have.
std::string refuse_twin_name(std::string_view name, std::string_view liqo_namespace,
                             std::string_view storage_namespace);

}  // namespace liqo::core
