#include "core/common/binding_plan.hpp"

#include <algorithm>

#include "core/common/bindings.hpp"

namespace liqo::core {

namespace json = kube::json;

BindingPlan plan_binding(const kube::Object* existing, const kube::Object& wanted) {
  using namespace binding_action;
  if (!existing) return Create{};
  if (!has_same_role(*existing, wanted)) return Replace{};
  const bool is_labelled = std::ranges::all_of(wanted.labels(), [&](const auto& label) {
    return label.value().is_string() && existing->label(label.key()) == std::string_view(label.value().get_string());
  });
  if (is_labelled && has_same_subjects(*existing, wanted)) return Keep{};
  return Patch{{{"metadata", json::object{{"labels", wanted.labels()}}},
                {"subjects", kube::array_at(wanted.tree(), {"subjects"})}}};
}

}  // namespace liqo::core
