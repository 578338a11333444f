// Whose a namespace of this cluster is.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"
#include "kube/k8s/request.hpp"

namespace liqo::core {

/// Selects the namespaces with the mark of a tenant namespace, whatever its value: `is_tenant_namespace` says which of
/// them are one.
kube::Selection marked_tenant_namespaces();
/// Whether the namespace is marked as the tenant namespace of a peer. The value "false", or none, marks nothing.
bool is_tenant_namespace(const kube::Object& ns);

/// The consumer whose pods are offloaded into this namespace, by the label that names it; "" for a tenant namespace,
/// and for what belongs to this cluster. A view of a text of `ns`.
std::string_view consumer_of_twin(const kube::Object& ns);

}  // namespace liqo::core
