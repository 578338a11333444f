#include "liqo/core/slices/inventory.hpp"

#include <algorithm>

#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "liqo/core/control_plane.hpp"
#include "liqo/core/quota/pod_requests.hpp"

namespace liqo::core {
namespace {

bool keeps_consumers_out(const kube::json::value& taint) {
  const std::string_view key = kube::string_at(taint, {"key"});
  const std::string_view effect = kube::string_at(taint, {"effect"});
  return std::ranges::find(control_plane_labels, key) != control_plane_labels.end() &&
         (effect == "NoSchedule" || effect == "NoExecute");
}

/// Quantities that cannot be read are left out: one odd device must not hide the rest of a node.
Resources readable(const kube::json::object& list) {
  Resources amounts;
  for (const auto& [name, value] : list)
    if (const auto quantity = kube::Quantity::from_json(value); quantity && quantity->sign() > 0)
      amounts.emplace(std::string(name), *quantity);
  return amounts;
}

}  // namespace

bool is_for_consumers(const kube::Object& node) {
  return node.label(api::labels::type) != api::labels::type_virtual_node &&
         !std::ranges::any_of(kube::array_at(node.spec(), {"taints"}), keeps_consumers_out);
}

bool is_shared_node(const kube::Object& node) {
  return !kube::bool_at(node.spec(), {"unschedulable"}) && kube::has_condition(node, "Ready") && is_for_consumers(node);
}

void Inventory::set_node(const std::string& name, const kube::Object* node) {
  if (!node) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) return;
    // Pods may outlive their Node for a while, and the Node may come back.
    found->second.known = found->second.shared = false;
    if (found->second.used.empty()) nodes_.erase(found);
    return;
  }
  Node& kept = nodes_[name];
  kept.known = true;
  kept.shared = is_shared_node(*node);
  kept.allocatable = readable(kube::object_at(node->status(), {"allocatable"}));
}

void Inventory::release(const kube::ObjectKey& key) {
  const auto found = pods_.find(key);
  if (found == pods_.end()) return;
  const Pod& pod = found->second;
  if (const auto node = nodes_.find(pod.node); node != nodes_.end()) {
    const auto take = [&pod](Resources& sum) {
      subtract(sum, pod.requests);
      drop_zeros(sum);
    };
    take(node->second.used);
    if (pod.offloaded) {
      take(node->second.offloaded[key.ns]);
      if (node->second.offloaded[key.ns].empty()) node->second.offloaded.erase(key.ns);
    }
    if (!node->second.known && node->second.used.empty()) nodes_.erase(node);
  }
  pods_.erase(found);
}

void Inventory::set_pod(const kube::ObjectKey& key, const kube::Object* pod) {
  release(key);
  if (!pod || api::is_final_phase(api::phase_of(*pod))) return;
  Pod kept{.node = std::string(kube::string_at(pod->spec(), {"nodeName"})),
           .offloaded = pod->label(api::labels::managed_by) == api::labels::managed_by_shadow_pod,
           .requests = {}};
  if (kept.node.empty()) return;
  // The API server has validated stored pods. A pod whose amounts cannot be read still takes its place in `pods`.
  if (auto needs = read_pod_needs(pod->spec())) kept.requests = pod_requests(*needs);
  kept.requests["pods"] += kube::Quantity(1);
  Node& node = nodes_[kept.node];
  add(node.used, kept.requests);
  if (kept.offloaded) add(node.offloaded[key.ns], kept.requests);
  pods_.insert_or_assign(key, std::move(kept));
}

void Inventory::set_namespace(const std::string& ns, std::string consumer) {
  if (consumer.empty())
    consumers_.erase(ns);
  else
    consumers_.insert_or_assign(ns, std::move(consumer));
}

Resources Inventory::free_for(std::string_view consumer) const {
  Resources free;
  for (const auto& [name, node] : nodes_) {
    if (!node.shared) continue;
    add(free, node.allocatable);
    for (const auto& [resource, quantity] : node.used)
      if (node.allocatable.contains(resource)) free[resource] -= quantity;
    for (const auto& [ns, quantities] : node.offloaded) {
      const auto owner = consumers_.find(ns);
      if (owner == consumers_.end() || owner->second != consumer) continue;
      for (const auto& [resource, quantity] : quantities)
        if (node.allocatable.contains(resource)) free[resource] += quantity;
    }
  }
  for (auto& [name, quantity] : free)
    if (quantity.sign() < 0) quantity = kube::Quantity(0, quantity.format());
  return free;
}

}  // namespace liqo::core
