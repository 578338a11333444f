// The parts of RoleBindings and ClusterRoleBindings, made and compared.
// Tested by test/unit/core/peering/handshake_test.cpp and test/unit/core/common/binding_plan_test.cpp.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The entry of `subjects` for a "User" or "Group" of that name.
kube::json::object make_subject(std::string_view kind, std::string_view name);
/// The `roleRef` of a binding to that ClusterRole.
kube::json::object make_role_ref(std::string_view role);

/// Whether both bindings are for the same subjects, in the same order. What the API server fills in is not compared.
/// Only the subjects of a binding can be changed in place.
bool has_same_subjects(const kube::Object& live, const kube::Object& wanted);
/// Whether both bindings give the same role.
bool has_same_role(const kube::Object& live, const kube::Object& wanted);

}  // namespace liqo::core
