#include "core/offloading/placement.hpp"

#include <algorithm>

namespace liqo::core {
namespace json = kube::json;
namespace {

bool selects(const json::object& node_selector, const json::object& labels) {
  return std::ranges::all_of(node_selector, [&labels](const auto& wanted) {
    const json::value* has = labels.if_contains(wanted.key());
    return has && *has == wanted.value();
  });
}

}  // namespace

NodeChoice::NodeChoice(const json::object& pod) : node_selector_(&kube::object_at(pod, {"spec", "nodeSelector"})) {
  const json::value* affinity = kube::find(pod, {"spec", "affinity", "nodeAffinity", required_terms});
  has_affinity_ = affinity && affinity->is_object();
  if (!has_affinity_) return;
  if (auto read = NodeSelector::parse(affinity->get_object())) affinity_ = std::move(*read);
}

bool NodeChoice::takes(std::string_view node_name, const json::object& labels) const {
  if (!selects(*node_selector_, labels)) return false;
  return !has_affinity_ || (affinity_ && affinity_->matches(node_name, labels));
}

bool takes_node(const json::object& pod, std::string_view node_name, const json::object& labels) {
  return NodeChoice(pod).takes(node_name, labels);
}

bool tolerates(const json::object& pod, const json::value& taint) {
  const std::string_view key = kube::string_at(taint, {"key"}), effect = kube::string_at(taint, {"effect"});
  return std::ranges::any_of(kube::array_at(pod, {"spec", "tolerations"}), [&](const json::value& toleration) {
    const std::string_view of_key = kube::string_at(toleration, {"key"}),
                           of_effect = kube::string_at(toleration, {"effect"});
    if (!of_effect.empty() && of_effect != effect) return false;
    if (kube::string_at(toleration, {"operator"}) == "Exists") return of_key.empty() || of_key == key;
    return of_key == key && kube::string_at(toleration, {"value"}) == kube::string_at(taint, {"value"});
  });
}

}  // namespace liqo::core
