#include "core/offloading/label_keys.hpp"

#include <set>
#include <string>

#include "core/common/json_values.hpp"
#include "core/offloading/placement.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

void drop_merged(json::object& constraint) {
  std::set<std::string, std::less<>> merged;
  for (const json::value& expression : kube::array_at(constraint, {"labelSelector", "matchExpressions"}))
    merged.emplace(kube::string_at(expression, {"key"}));
  for (std::string_view list : {"matchLabelKeys", "mismatchLabelKeys"}) {
    json::value* keys = constraint.if_contains(list);
    if (!keys || !keys->is_array()) continue;
    json::array kept;
    for (const json::value& key : keys->get_array())
      if (!key.is_string() || !merged.contains(std::string_view(key.get_string()))) kept.push_back(key);
    if (kept.empty())
      constraint.erase(list);
    else
      *keys = std::move(kept);
  }
}

}  // namespace

void drop_merged_label_keys(json::object& spec) {
  for_each_object(spec, "topologySpreadConstraints", drop_merged);
  json::object* affinity = object_in(spec, "affinity");
  if (!affinity) return;
  for (std::string_view rule : {"podAffinity", "podAntiAffinity"}) {
    json::object* terms = object_in(*affinity, rule);
    if (!terms) continue;
    for_each_object(*terms, required_terms, drop_merged);
    for_each_object(*terms, "preferredDuringSchedulingIgnoredDuringExecution", [](json::object& weighted) {
      if (json::object* term = object_in(weighted, "podAffinityTerm")) drop_merged(*term);
    });
  }
}

}  // namespace liqo::core
