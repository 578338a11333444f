#include "core/offloading/miscounted.hpp"

#include <algorithm>
#include <string_view>

#include "core/offloading/placement.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

bool is_kept_off(const json::object& pod_template, const kube::Object& node) {
  return std::ranges::any_of(kube::array_at(node.spec(), {"taints"}), [&pod_template](const json::value& taint) {
    return kube::string_at(taint, {"effect"}) != "PreferNoSchedule" && !tolerates(pod_template, taint);
  });
}

}  // namespace

std::vector<std::string> miscounted_keys(const json::object& pod_template, const kube::Object& node) {
  std::vector<std::string> keys;
  const json::array& constraints = kube::array_at(pod_template, {"spec", "topologySpreadConstraints"});
  if (constraints.empty() || !is_kept_off(pod_template, node)) return keys;
  const bool is_chosen = takes_node(pod_template, node.name(), node.labels());
  for (const json::value& one : constraints) {
    const std::string_view key = kube::string_at(one, {"topologyKey"});
    if (kube::string_at(one, {"whenUnsatisfiable"}) != "DoNotSchedule" || !node.has_label(key) ||
        kube::string_at(one, {"nodeTaintsPolicy"}) == "Honor" ||
        (!is_chosen && kube::string_at(one, {"nodeAffinityPolicy"}) != "Ignore"))
      continue;
    keys.emplace_back(key);
  }
  return keys;
}

}  // namespace liqo::core
