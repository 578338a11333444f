#include "controllers/nodes/kubelet_ports.hpp"

#include <utility>

namespace liqo::controllers {

std::optional<std::int64_t> KubeletPorts::claim_of(const std::string& node) const {
  // Assignments that were not written yet come first.
  if (const auto decided = decided_.find(node); decided != decided_.end()) return decided->second;
  if (const auto shown = shown_.find(node); shown != shown_.end()) return shown->second;
  return std::nullopt;
}

void KubeletPorts::read_claim(const std::string& node) {
  const std::optional<std::int64_t> port = claim_of(node);
  if (const auto before = claims_.find(node); before != claims_.end()) {
    if (before->second == port) return;
    if (const auto at = holders_.find(before->second); at != holders_.end()) {
      at->second.erase(node);
      if (at->second.empty()) holders_.erase(at);
    }
    claims_.erase(before);
  }
  if (!port) return;
  claims_.emplace(node, *port);
  if (range_.contains(*port)) holders_[*port].insert(node);
}

bool KubeletPorts::are_all_taken() const { return holders_.size() == std::size_t(range_.count); }

std::size_t KubeletPorts::placed() const {
  if (!are_all_taken()) return holders_.size();
  // If no port is left, all other nodes share the first one.
  return holders_.size() + holders_.at(range_.first).size() - 1;
}

std::vector<std::string> KubeletPorts::concerned() const {
  if (placed() == claims_.size()) return {};
  std::vector<std::string> names;
  for (const auto& [node, port] : core::plan_node_ports(range_, claims_))
    if (claims_.at(node) != port) names.push_back(node);
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
  read_claim(node);
  return concerned();
}

std::uint16_t KubeletPorts::port_for(const std::string& node) const {
  const auto claim = claims_.find(node);
  const auto held = claim == claims_.end() ? holders_.end() : holders_.find(claim->second);
  if (held != holders_.end() && *held->second.begin() == node) return static_cast<std::uint16_t>(claim->second);
  if (are_all_taken()) return range_.first;
  core::NodePorts wanted = claims_;
  wanted.try_emplace(node, 0);
  return core::plan_node_ports(range_, wanted).at(node);
}

KubeletPorts::Decision KubeletPorts::decide(const std::string& node) {
  Decision decision{.port = port_for(node)};
  decided_.insert_or_assign(node, decision.port);
  read_claim(node);
  // Only the first port is ever shared, by nodes for which no other is left.
  const bool is_shared =
      range_.count > 1 && decision.port == range_.first && claims_.size() > std::size_t(range_.count);
  if (is_shared)
    decision.is_shared_now = sharing_.insert(node).second;
  else
    sharing_.erase(node);
  return decision;
}

std::vector<std::string> KubeletPorts::forget(const std::string& node) {
  sharing_.erase(node);
  if (decided_.erase(node) == 0) return {};
  read_claim(node);
  return concerned();
}

void KubeletPorts::forget_decisions() {
  for (const auto& [node, port] : std::exchange(decided_, {})) read_claim(node);
}

}  // namespace liqo::controllers
