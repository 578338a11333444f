// How the twin of an offloaded namespace is called, and which names no twin may have.
#pragma once

#include <string>
#include <string_view>

#include "liqo/api/namespace_offloading.hpp"

namespace liqo::core {

/// The name of the twins that a NamespaceOffloading asks for. EnforceSameName: that of its namespace; DefaultName: that
/// and `-<local cluster>`; SelectedName: the one in its spec. Errors: Errc::invalid_input where that is no name of a
/// namespace (RFC 1123 label, 63 characters) or begins with `kube-`, with a sentence that says what to do.
kube::Result<std::string> remote_namespace_name(const api::NamespaceOffloading& offloading,
                                                std::string_view local_cluster);

/// Why a provider gives no consumer a namespace of this name, "" if it may have it: no name of a namespace, one of the
/// namespaces that Kubernetes itself has, Liqo's own, that of the real claims (whether or not there are any yet), or
/// one that a tenant namespace may have.
std::string refuse_twin_name(std::string_view name, std::string_view liqo_namespace,
                             std::string_view storage_namespace);

}  // namespace liqo::core
