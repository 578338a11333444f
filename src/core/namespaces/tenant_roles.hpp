// Further ClusterRoles that a tenant's policy gives a consumer in each of its twins: which are allowed, and how they
// are bound.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/namespaces/twin_plan.hpp"

namespace liqo::core {

/// What a ClusterRole would let a consumer do in its twins.
struct RoleVerdict {
  std::string refusal;             ///< why it is not to be bound, naming the rule; "" = it may be
  std::set<std::string> writable;  ///< custom kinds that the role lets the consumer write, e.g. "widgets.example.org"
};

/// Checks the rules of a ClusterRole. Rules that escape the pod firewall are refused: they write kinds that create
/// pods, grant rights or belong to Liqo, run commands by a read (`pods/exec`), or contain "*". Custom kinds are
/// allowed.
RoleVerdict judge_tenant_role(const kube::Object& role);

/// The name of the RoleBinding of such a role in a twin: `<tenant namespace>-<role>`, shortened by a digest if that has
/// more than 253 characters.
std::string tenant_role_binding_name(std::string_view tenant_namespace, std::string_view role);
/// A further ClusterRole of one tenant.
struct TenantRole {
  std::string_view tenant_namespace, consumer, role;
};
/// The RoleBinding of the role in a twin; `map_id` names the NamespaceMap of the twin.
kube::Object forge_tenant_role_binding(std::string_view twin, const TenantRole& given, std::string_view map_id);
/// Whether a RoleBinding was made by `forge_tenant_role_binding`.
bool is_tenant_role_binding(const kube::Object& binding);
/// Whether `binding` grants exactly what `wanted` does.
bool is_same_binding(const kube::Object& binding, const kube::Object& wanted);

}  // namespace liqo::core
