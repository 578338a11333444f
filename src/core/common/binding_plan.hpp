// The plan for a RoleBinding or ClusterRoleBinding that this program keeps.
#pragma once

#include <string>
#include <variant>

#include "kube/k8s/object.hpp"

namespace liqo::core {

namespace binding_action {
/// The binding is as it should be.
struct Keep {};
/// There is no binding: create it.
struct Create {};
/// The binding refers to another role, and a roleRef cannot be changed: delete it, then create it.
struct Replace {};
struct Patch {
  kube::json::object patch;  ///< JSON merge patch; who sends it names UID and version of what was looked at
};
/// The binding is somebody else's.
struct Refuse {
  std::string message;  ///< a sentence
};
}  // namespace binding_action

/// What to do about one binding.
using BindingPlan = std::variant<binding_action::Keep, binding_action::Create, binding_action::Replace,
                                 binding_action::Patch, binding_action::Refuse>;

/// The plan for a binding whose name is ours alone. `existing` is the binding of that name, or null. Labels that
/// `wanted` does not have stay.
BindingPlan plan_binding(const kube::Object* existing, const kube::Object& wanted);

}  // namespace liqo::core
