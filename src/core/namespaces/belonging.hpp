// Whose a namespace of this cluster is, and what in it is Liqo's own.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"
#include "kube/k8s/request.hpp"

namespace liqo::core {

/// Selects the objects that Liqo made for itself or a peer and keeps as they should be, by the mark on them: role
/// bindings, the ResourceQuotas of twins, ledgers. Others may have set the mark, too.
kube::Selection kept_by_liqo();

/// Selects the namespaces with the mark of a tenant namespace, whatever its value: `is_tenant_namespace` decides which
/// of them are tenant namespaces.
kube::Selection marked_tenant_namespaces();
/// Whether the namespace is marked as the tenant namespace of a peer. The value "false", or none, marks nothing.
bool is_tenant_namespace(const kube::Object& ns);

/// The consumer whose pods are offloaded into this namespace, by the label that names it; "" for a tenant namespace,
/// and for what belongs to this cluster. A view of a text of `ns`.
std::string_view consumer_of_twin(const kube::Object& ns);

}  // namespace liqo::core
