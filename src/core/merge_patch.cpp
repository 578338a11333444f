#include "liqo/core/merge_patch.hpp"

namespace liqo::core {
namespace json = kube::json;

json::object merge_patch(const json::object& have, const json::object& want) {
  json::object patch;
  for (const auto& [key, value] : want) {
    const json::value* old = have.if_contains(key);
    if (old && *old == value) continue;
    if (old && old->is_object() && value.is_object())
      patch[key] = merge_patch(old->get_object(), value.get_object());
    else
      patch[key] = value;
  }
  for (const auto& [key, value] : have)
    if (!want.contains(key)) patch[key] = nullptr;
  return patch;
}

}  // namespace liqo::core
