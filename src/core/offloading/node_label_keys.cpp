#include "core/offloading/node_label_keys.hpp"

#include <algorithm>
#include <utility>

#include "core/slices/inventory.hpp"

namespace liqo::core {
namespace {

/// As the API server sends them, which sorts them.
std::vector<std::string> keys_of(const kube::Object& node) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : node.labels()) keys.emplace_back(std::string_view(key));
  return keys;
}

bool has_just(const kube::Object& node, const std::vector<std::string>& keys) {
  return std::ranges::equal(node.labels(), keys, [](const auto& entry, const std::string& key) {
    return std::string_view(entry.key()) == key;
  });
}

}  // namespace

void NodeLabelKeys::set_node(const std::string& name, const kube::Object* node) {
  const bool counts = node && is_for_consumers(*node);
  const auto known = nodes_.find(name);
  if (known == nodes_.end() && !counts) return;
  if (known != nodes_.end()) {
    const Counts::iterator before = known->second;
    if (counts && has_just(*node, before->first)) return;
    if (--before->second == 0) {
      for (const std::string& key : before->first)
        if (const auto entry = lists_.find(key); --entry->second == 0) lists_.erase(entry);
      counts_.erase(before);
    }
    nodes_.erase(known);
  }
  if (!counts) return;
  const auto [list, is_new] = counts_.try_emplace(keys_of(*node), 0);
  if (is_new)
    for (const std::string& key : list->first) ++lists_[key];
  ++list->second;
  nodes_.emplace(name, list);
}

std::vector<std::string> NodeLabelKeys::missing(const std::vector<std::string>& keys) const {
  std::vector<std::string> gone;
  if (nodes_.empty()) return gone;
  for (const std::string& key : keys)
    if (!lists_.contains(key)) gone.push_back(key);
  return gone;
}

}  // namespace liqo::core
