#include "core/nodes/node_ports.hpp"

#include <vector>

#include "core/nodes/node.hpp"

namespace liqo::core {

std::optional<std::int64_t> shown_port(const kube::Object& node) {
  if (!why_foreign(node).empty()) return std::nullopt;
  return kube::int_at(node.tree(), {"status", "daemonEndpoints", "kubeletEndpoint", "Port"});
}

std::map<std::string, std::uint16_t> plan_node_ports(const PortRange& range, const NodePorts& nodes) {
  std::map<std::string, std::uint16_t> plan;
  std::set<std::int64_t> taken;
  std::vector<const std::string*> without;
  for (const auto& [node, shown] : nodes) {
    if (range.contains(shown) && taken.insert(shown).second)
      plan.emplace(node, static_cast<std::uint16_t>(shown));
    else
      without.push_back(&node);
  }
  std::int64_t next = range.first;
  for (const std::string* node : without) {
    while (range.contains(next) && taken.contains(next)) ++next;
    const bool is_left = range.contains(next);
    plan.emplace(*node, is_left ? static_cast<std::uint16_t>(next++) : range.first);
  }
  return plan;
}

std::map<std::uint16_t, std::set<std::string>> nodes_at_ports(const PortRange& range, const NodePorts& nodes) {
  std::map<std::uint16_t, std::set<std::string>> at;
  for (const auto& [node, shown] : nodes)
    at[range.contains(shown) ? static_cast<std::uint16_t>(shown) : range.first].insert(node);
  return at;
}

}  // namespace liqo::core
