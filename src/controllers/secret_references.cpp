#include "liqo/controllers/secret_references.hpp"

#include "liqo/reflection/references.hpp"

namespace liqo::controllers {

void SecretReferences::set_nodes(const std::set<std::string>& nodes) {
  for (auto node = nodes_.begin(); node != nodes_.end();) {
    if (nodes.contains(node->first)) {
      ++node;
      continue;
    }
    const auto left = std::move(node->second.read);
    node = nodes_.erase(node);
    for (const auto& [key, pod] : left) count(key.ns, pod.secrets, -1);
  }
  for (const std::string& name : nodes) {
    if (nodes_.contains(name)) continue;
    Node& node = nodes_[name];
    node.pods =
        home_.acquire({.resource = kube::resources::pods, .selection = {.field_selector = "spec.nodeName=" + name}});
    node.pods.subscribe([this, name](const kube::ObjectKey& key) { read(name, key); });
    for (const kube::ObjectKey& key : node.pods->store().keys()) read(name, key);
  }
}

void SecretReferences::read(const std::string& node, const kube::ObjectKey& key) {
  Node& at = nodes_.at(node);
  const std::string_view uid = at.pods->store().uid(key);
  const auto known = at.read.find(key);
  if (known != at.read.end() ? known->second.uid == uid : uid.empty()) return;
  Pod before = known == at.read.end() ? Pod{} : std::move(known->second);
  if (known != at.read.end()) at.read.erase(known);
  Pod now{.uid = std::string(uid), .secrets = {}};
  if (const auto pod = at.pods->find(key)) now.secrets = reflection::secrets_of_pod(*pod);
  // What both refer to shall not look as if it were not referred to in between.
  const std::vector<std::string> secrets = now.secrets;
  if (!now.uid.empty()) at.read.emplace(key, std::move(now));
  count(key.ns, secrets, 1);
  count(key.ns, before.secrets, -1);
}

void SecretReferences::set(const std::string& ns, const std::string& name, std::vector<std::string> secrets) {
  const kube::ObjectKey key{ns, name};
  const auto known = others_.find(key);
  if (known == others_.end() ? secrets.empty() : known->second == secrets) return;
  std::vector<std::string> before = known == others_.end() ? std::vector<std::string>() : std::move(known->second);
  if (secrets.empty())
    others_.erase(key);
  else
    others_[key] = secrets;
  count(ns, secrets, 1);
  count(ns, before, -1);
}

void SecretReferences::count(const std::string& ns, const std::vector<std::string>& secrets, int by) {
  if (secrets.empty()) return;
  bool is_news = false;
  auto& counts = counts_[ns];
  for (const std::string& name : secrets) {
    int& number = counts[name];
    const bool was_referred = number > 0;
    number += by;
    if ((number > 0) != was_referred) is_news = true;
    if (number == 0) counts.erase(name);
  }
  if (counts.empty()) counts_.erase(ns);
  if (is_news) changed_(ns);
}

std::set<std::string> SecretReferences::of(const std::string& ns) const {
  std::set<std::string> out;
  if (const auto found = counts_.find(ns); found != counts_.end())
    for (const auto& [name, number] : found->second) out.insert(name);
  return out;
}

bool SecretReferences::has_synced() const {
  for (const auto& [name, node] : nodes_)
    if (!node.pods->has_synced()) return false;
  return true;
}

}  // namespace liqo::controllers
