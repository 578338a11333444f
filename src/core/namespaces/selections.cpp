#include "core/namespaces/selections.hpp"

#include <utility>

namespace liqo::core {

bool Selections::count(Selection& selection, const Node& node, bool is_there) {
  if (node.cluster.empty()) return false;
  ++evaluations_;
  if (!is_selected(selection.selector, node.name, node.labels)) return false;
  if (is_there) return ++selection.clusters[node.cluster] == 1;
  const auto found = selection.clusters.find(node.cluster);
  if (found == selection.clusters.end() || --found->second > 0) return false;
  selection.clusters.erase(found);
  return true;
}

std::vector<std::string> Selections::see(const kube::ObjectKey& virtual_node, std::optional<Node> now) {
  const auto found = nodes_.find(virtual_node);
  const bool was_there = found != nodes_.end();
  if (now ? was_there && found->second == *now : !was_there) return {};
  std::vector<std::string> changed;
  for (auto& [text, selection] : selections_) {
    const bool goes = was_there && count(selection, found->second, false);
    const bool comes = now && count(selection, *now, true);
    const bool is_back = goes && comes && found->second.cluster == now->cluster;
    if ((goes || comes) && !is_back) changed.push_back(text);
  }
  if (now)
    nodes_.insert_or_assign(virtual_node, std::move(*now));
  else
    nodes_.erase(found);
  return changed;
}

const Selections::Clusters& Selections::ask(const std::string& ns, const std::string& text,
                                            const NodeSelector& selector) {
  if (const auto before = texts_.find(ns); before != texts_.end() && before->second != text) forget(ns);
  texts_.try_emplace(ns, text);
  auto found = selections_.find(text);
  if (found == selections_.end()) {
    found = selections_.emplace(text, Selection{.selector = selector, .clusters = {}, .askers = {}}).first;
    for (const auto& [key, node] : nodes_) count(found->second, node, true);
  }
  found->second.askers.insert(ns);
  return found->second.clusters;
}

const Selections::Clusters* Selections::asked(std::string_view ns) const {
  const auto text = texts_.find(ns);
  return text == texts_.end() ? nullptr : &selections_.find(text->second)->second.clusters;
}

void Selections::forget(const std::string& ns) {
  const auto text = texts_.find(ns);
  if (text == texts_.end()) return;
  const auto selection = selections_.find(text->second);
  selection->second.askers.erase(ns);
  if (selection->second.askers.empty()) selections_.erase(selection);
  texts_.erase(text);
}

std::vector<std::string> Selections::askers(std::string_view text) const {
  const auto found = selections_.find(text);
  if (found == selections_.end()) return {};
  return {found->second.askers.begin(), found->second.askers.end()};
}

std::vector<std::string> Selections::askers_of(std::string_view cluster) const {
  std::vector<std::string> all;
  for (const auto& [text, selection] : selections_)
    if (selection.clusters.contains(cluster)) all.insert(all.end(), selection.askers.begin(), selection.askers.end());
  return all;
}

}  // namespace liqo::core
