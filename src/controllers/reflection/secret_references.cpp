#include "controllers/reflection/secret_references.hpp"

#include "controllers/common/keep_fields.hpp"
#include "controllers/common/known.hpp"
#include "controllers/common/scopes.hpp"
#include "core/offloading/service_account_token.hpp"
#include "core/reflection/references.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::controllers {
namespace {

/// Only the image pull secrets of a ServiceAccount are needed here.
void keep_pull_secrets(kube::json::object& tree) {
  keep_fields(tree, {"apiVersion", "kind", "metadata", "imagePullSecrets"});
  keep_fields_of(tree, "metadata", {"name", "namespace", "uid", "resourceVersion"});
}

}  // namespace

void SecretReferences::set_nodes(const std::set<std::string>& nodes) {
  if (!nodes.empty() && !accounts_) {
    accounts_ = home_.acquire({.resource = kube::resources::service_accounts, .prune = keep_pull_secrets});
    accounts_.subscribe([this](const kube::ObjectKey& key) { read_account(key); });
    offloadings_ = home_.acquire({.resource = api::kinds::namespace_offloadings});
    offloadings_.follow([this](const kube::ObjectKey& key) { read_offloading(key); });
  }
  for (auto node = nodes_.begin(); node != nodes_.end();) {
    if (nodes.contains(node->first)) {
      ++node;
      continue;
    }
    const auto left = std::move(node->second.read);
    node = nodes_.erase(node);
    for (const auto& [key, pod] : left) count(key, pod, -1);
  }
  for (const std::string& name : nodes) {
    if (nodes_.contains(name)) continue;
    Node& node = nodes_[name];
    node.pods = home_.acquire(scope_of_pods_on(name));
    node.pods.follow([this, name](const kube::Change& pod) { read(name, pod.key, pod.now); });
  }
}

void SecretReferences::read(const std::string& node, const kube::ObjectKey& key, const kube::Object* pod) {
  Node& at = nodes_.at(node);
  const std::string_view uid = pod ? pod->uid() : std::string_view();
  const std::size_t ephemeral = pod ? kube::array_at(pod->spec(), {"ephemeralContainers"}).size() : 0;
  const auto known = at.read.find(key);
  if (known == at.read.end() ? uid.empty() : known->second.uid == uid && known->second.ephemeral == ephemeral) return;
  Pod before = known == at.read.end() ? Pod{} : std::move(known->second);
  if (known != at.read.end()) at.read.erase(known);
  Pod now{.uid = std::string(uid), .ephemeral = ephemeral};
  if (pod) {
    now.account = core::service_account_of(*pod);
    now.secrets = core::reflection::secrets_of_pod(*pod);
  }
  // The new references are counted first, so that the count of Secrets in both sets stays above zero.
  const Pod counted = now;
  if (!now.uid.empty()) at.read.emplace(key, std::move(now));
  count(key, counted, 1);
  count(key, before, -1);
}

void SecretReferences::count(const kube::ObjectKey& key, const Pod& pod, int by) {
  if (!pod.secrets.empty()) {
    const bool is_named = add(by_pods_, key.ns, pod.secrets, by);
    if (add(counts_, key.ns, pod.secrets, by) || is_named) changed_(key.ns);
  }
  if (pod.account.empty()) return;
  const kube::ObjectKey named{key.ns, pod.account};
  Account& account = used_[named];
  account.pods += by;
  if (account.pods > 0) {
    if (account.pods == by) read_account(named);
    return;
  }
  const std::vector<std::string> secrets = std::move(account.secrets);
  used_.erase(named);
  count(key.ns, secrets, -1);
}

void SecretReferences::read_account(const kube::ObjectKey& key) {
  const auto used = used_.find(key);
  if (used == used_.end()) return;
  std::vector<std::string> secrets;
  if (const auto account = accounts_->find(key)) secrets = core::reflection::pull_secrets_of(*account);
  if (secrets == used->second.secrets) return;
  const std::vector<std::string> before = std::exchange(used->second.secrets, secrets);
  count(key.ns, secrets, 1);
  count(key.ns, before, -1);
}

void SecretReferences::read_offloading(const kube::ObjectKey& key) {
  if (key.name != api::namespace_offloading_name) return;
  const auto offloading = offloadings_->find(key);
  // A NamespaceOffloading that is not known does not ask for all Secrets.
  const bool stays =
      offloading && api::NamespaceOffloading(*offloading).pod_strategy() == api::PodOffloadingStrategy::local;
  if (stays == staying_.contains(key.ns)) return;
  if (stays)
    staying_.insert(key.ns);
  else
    staying_.erase(key.ns);
  changed_(key.ns);
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

bool SecretReferences::add(Counts& counts, const std::string& ns, const std::vector<std::string>& secrets, int by) {
  bool is_news = false;
  auto& numbers = counts[ns];
  for (const std::string& name : secrets) {
    int& number = numbers[name];
    const bool was_referred = number > 0;
    number += by;
    if ((number > 0) != was_referred) is_news = true;
    if (number == 0) numbers.erase(name);
  }
  if (numbers.empty()) counts.erase(ns);
  return is_news;
}

void SecretReferences::count(const std::string& ns, const std::vector<std::string>& secrets, int by) {
  if (!secrets.empty() && add(counts_, ns, secrets, by)) changed_(ns);
}

std::set<std::string> SecretReferences::of(const std::string& ns) const { return names(counts_, ns); }

std::set<std::string> SecretReferences::named_by_pods(const std::string& ns) const { return names(by_pods_, ns); }

std::set<std::string> SecretReferences::names(const Counts& counts, const std::string& ns) {
  std::set<std::string> out;
  if (const auto found = counts.find(ns); found != counts.end())
    for (const auto& [name, number] : found->second) out.insert(name);
  return out;
}

bool SecretReferences::has_synced() const {
  for (const kube::InformerHandle* read : {&accounts_, &offloadings_})
    if (*read && !is_known_or_forbidden(**read)) return false;
  for (const auto& [name, node] : nodes_)
    if (!node.pods->has_synced()) return false;
  return true;
}

}  // namespace liqo::controllers
