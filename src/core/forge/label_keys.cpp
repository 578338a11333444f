#include "label_keys.hpp"

#include <algorithm>

#include "kube/k8s/object.hpp"

namespace liqo::core {
namespace json = kube::json;

void drop_merged_label_keys(json::object& constraint) {
  const json::array expressions = kube::array_at(constraint, {"labelSelector", "matchExpressions"});
  const auto is_merged = [&](const json::value& key) {
    return key.is_string() && std::ranges::any_of(expressions, [&](const json::value& expression) {
             return kube::string_at(expression, {"key"}) == std::string_view(key.get_string());
           });
  };
  for (std::string_view list : {"matchLabelKeys", "mismatchLabelKeys"}) {
    json::value* keys = constraint.if_contains(list);
    if (!keys || !keys->is_array()) continue;
    json::array kept;
    for (const json::value& key : keys->get_array())
      if (!is_merged(key)) kept.push_back(key);
    if (kept.empty())
      constraint.erase(list);
    else
      *keys = std::move(kept);
  }
}

}  // namespace liqo::core
