#include "controllers/nodes/kubelet_ports.hpp"

namespace liqo::controllers {

core::NodePorts KubeletPorts::claims() const {
  core::NodePorts claims = decided_;
  claims.insert(shown_.begin(), shown_.end());  // what is decided comes first
  return claims;
}

std::vector<std::string> KubeletPorts::concerned() const {
  const core::NodePorts now = claims();
  std::vector<std::string> names;
  for (const auto& [node, port] : core::plan_node_ports(range_, now))
    if (now.at(node) != port) names.push_back(node);
  return names;
}

std::vector<std::string> KubeletPorts::see(const std::string& node, std::optional<std::int64_t> port) {
  const auto known = shown_.find(node);
  const bool is_news = port ? known == shown_.end() || known->second != *port : known != shown_.end();
  if (!is_news) return {};
  if (port)
    shown_.insert_or_assign(node, *port);
  else
    shown_.erase(known);
  return concerned();
}

KubeletPorts::Decision KubeletPorts::decide(const std::string& node) {
  core::NodePorts wanted = claims();
  wanted.try_emplace(node, 0);
  const auto plan = core::plan_node_ports(range_, wanted);
  Decision decision{.port = plan.at(node)};
  decided_.insert_or_assign(node, decision.port);
  bool is_shared = false;
  if (range_.count > 1)
    for (const auto& [other, port] : plan) is_shared = is_shared || (other != node && port == decision.port);
  if (is_shared)
    decision.is_shared_now = sharing_.insert(node).second;
  else
    sharing_.erase(node);
  return decision;
}

std::vector<std::string> KubeletPorts::forget(const std::string& node) {
  sharing_.erase(node);
  if (decided_.erase(node) == 0) return {};
  return concerned();
}

}  // namespace liqo::controllers
