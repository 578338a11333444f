#include "core/slices/inventory.hpp"

#include <algorithm>

#include "core/common/control_plane.hpp"
#include "core/quota/pod_requests.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"

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

void Inventory::change_sum(kube::QuantitySum& sum, const kube::QuantitySum& amount, Change change) {
  if (change == Change::add)
    sum += amount;
  else
    sum -= amount;
}

void Inventory::change_sums(Sums& sums, const std::string& resource, const kube::QuantitySum& amount, Change change) {
  const auto sum = sums.try_emplace(resource).first;
  change_sum(sum->second, amount, change);
  if (sum->second.is_zero()) sums.erase(sum);
}

void Inventory::change_part(Parts& parts, const std::string& name, const std::string& resource,
                            const kube::QuantitySum& amount, Change change) {
  const auto part = parts.try_emplace(name).first;
  change_sums(part->second, resource, amount, change);
  if (part->second.empty()) parts.erase(part);
}

void Inventory::change_offloaded(const std::string& ns, const std::string& resource, const kube::QuantitySum& amount,
                                 Change change) {
  change_part(offloaded_, ns, resource, amount, change);
  if (const auto owner = consumers_.find(ns); owner != consumers_.end())
    change_part(borrowed_, owner->second, resource, amount, change);
}

void Inventory::change_share(const Node& node, Change change) {
  if (!node.shared) return;
  for (const auto& [resource, quantity] : node.allocatable) {
    const auto free = free_.try_emplace(resource).first;
    kube::QuantitySum of_node;
    of_node += quantity;
    if (const auto used = node.used.find(resource); used != node.used.end()) of_node -= used->second;
    change_sum(free->second.amount, of_node, change);
    free->second.nodes += change == Change::add ? 1 : -1;
    if (free->second.nodes == 0) free_.erase(free);
  }
  for (const auto& [ns, sums] : node.offloaded)
    for (const auto& [resource, amount] : sums)
      if (node.allocatable.contains(resource)) change_offloaded(ns, resource, amount, change);
}

void Inventory::set_node(const std::string& name, const kube::Object* node) {
  const auto found = nodes_.find(name);
  if (!node) {
    if (found == nodes_.end()) return;
    change_share(found->second, Change::take);
    // Pods may outlive their Node for a while, and the Node may come back.
    found->second.known = found->second.shared = false;
    if (found->second.used.empty()) nodes_.erase(found);
    return;
  }
  const bool is_shared = is_shared_node(*node);
  Resources allocatable = readable(kube::object_at(node->status(), {"allocatable"}));
  Node& kept = nodes_[name];
  kept.known = true;
  // Most changes of a Node are those of its conditions.
  if (kept.shared == is_shared && kept.allocatable == allocatable) return;
  change_share(kept, Change::take);
  kept.shared = is_shared;
  kept.allocatable = std::move(allocatable);
  change_share(kept, Change::add);
}

void Inventory::change_pod(const std::string& ns, const Pod& pod, Node& node, Change change) {
  for (const auto& [resource, quantity] : pod.requests) {
    kube::QuantitySum amount;
    amount += quantity;
    change_sums(node.used, resource, amount, change);
    if (pod.offloaded) change_part(node.offloaded, ns, resource, amount, change);
    if (!node.shared || !node.allocatable.contains(resource)) continue;
    // What a pod takes is not free any more.
    change_sum(free_.find(resource)->second.amount, amount, change == Change::add ? Change::take : Change::add);
    if (pod.offloaded) change_offloaded(ns, resource, amount, change);
  }
}

void Inventory::release(const kube::ObjectKey& key) {
  const auto found = pods_.find(key);
  if (found == pods_.end()) return;
  if (const auto node = nodes_.find(found->second.node); node != nodes_.end()) {
    change_pod(key.ns, found->second, node->second, Change::take);
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
  change_pod(key.ns, kept, nodes_[kept.node], Change::add);
  pods_.insert_or_assign(key, std::move(kept));
}

void Inventory::set_namespace(const std::string& ns, std::string consumer) {
  const auto owner = consumers_.find(ns);
  const std::string before = owner == consumers_.end() ? "" : owner->second;
  if (before == consumer) return;
  if (const auto used = offloaded_.find(ns); used != offloaded_.end()) {
    const auto move = [&](const std::string& name, Change change) {
      if (name.empty()) return;
      for (const auto& [resource, amount] : used->second) change_part(borrowed_, name, resource, amount, change);
    };
    move(before, Change::take);
    move(consumer, Change::add);
  }
  if (consumer.empty())
    consumers_.erase(owner);
  else
    consumers_.insert_or_assign(ns, std::move(consumer));
}

Resources Inventory::free_for(std::string_view consumer) const {
  const auto own = borrowed_.find(consumer);
  Resources free;
  for (const auto& [resource, shared] : free_) {
    kube::QuantitySum sum = shared.amount;
    if (own != borrowed_.end())
      if (const auto used = own->second.find(resource); used != own->second.end()) sum += used->second;
    const kube::Quantity total = sum.total();
    free.emplace(resource, total.sign() < 0 ? kube::Quantity(0, total.format()) : total);
  }
  return free;
}

}  // namespace liqo::core
