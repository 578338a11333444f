// The plan for a binding, as text for tests.
#pragma once

#include <string>

#include "core/common/binding_plan.hpp"
#include "kube/base/json.hpp"

namespace liqo::core {

/// "refuse", "create", "replace", "keep", or "patch" with the patch.
inline std::string text_of(const BindingPlan& plan) {
  using namespace binding_action;
  if (std::holds_alternative<Refuse>(plan)) return "refuse";
  if (std::holds_alternative<Create>(plan)) return "create";
  if (std::holds_alternative<Replace>(plan)) return "replace";
  const auto* due = std::get_if<Patch>(&plan);
  return due ? "patch " + kube::json::serialize(due->patch) : "keep";
}

}  // namespace liqo::core
