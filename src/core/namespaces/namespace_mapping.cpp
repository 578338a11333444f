#include "core/namespaces/namespace_mapping.hpp"

#include <algorithm>
#include <iterator>

#include "core/common/names.hpp"
#include "kube/base/printable.hpp"

namespace liqo::core {

NamespaceMapping NamespaceMapping::from(const api::NamespaceMap& map, const NamespaceMapping* before) {
  Tables made;
  std::map<std::string, int, std::less<>> uses;
  std::vector<api::MappedNamespace> usable;
  for (api::MappedNamespace& entry : map.current_mapping()) {
    // A mapping that this cluster did not ask for is not used: the provider could otherwise have the objects of any
    // namespace sent to it. Such entries are kept as withdrawn and only read. Work in a twin thereby ends as soon as
    // the twin is not wanted, before the provider removes it.
    const bool is_named = is_dns_label(entry.local) && is_dns_label(entry.remote);
    if (map.desired_twin(entry.local) != entry.remote || entry.phase == "Terminating") {
      if (is_named) made.withdrawn.emplace(std::move(entry.local), std::move(entry.remote));
      continue;
    }
    if (!entry.is_accepted()) {
      if (entry.phase != "CreationLoopBackOff") continue;
      const std::string* used = before ? before->to_remote(entry.local) : nullptr;
      if (!used || *used != entry.remote) {
        made.troubled.insert(entry.local);
        if (is_named) made.withdrawn.emplace(std::move(entry.local), std::move(entry.remote));
        continue;
      }
    }
    if (!is_named) {
      made.refused.push_back("the mapping of namespace " + kube::in_quotes(entry.local, 63) + " to " +
                             kube::in_quotes(entry.remote, 63) + " is not used: not the names of namespaces");
      continue;
    }
    ++uses[entry.remote];
    usable.push_back(std::move(entry));
  }
  for (api::MappedNamespace& entry : usable) {
    if (uses[entry.remote] > 1) {
      made.refused.push_back("the mapping of namespace " + entry.local + " to " + entry.remote +
                             " is not used: another namespace is mapped to the same");
      continue;
    }
    made.forward.emplace(std::move(entry.local), std::move(entry.remote));
  }
  return NamespaceMapping(std::move(made));
}

const std::string* NamespaceMapping::to_remote(std::string_view local) const {
  const auto found = tables_->forward.find(local);
  return found == tables_->forward.end() ? nullptr : &found->second;
}

const std::string* NamespaceMapping::withdrawn(std::string_view local) const {
  const auto found = tables_->withdrawn.find(local);
  return found == tables_->withdrawn.end() ? nullptr : &found->second;
}

std::set<std::string, std::less<>> NamespaceMapping::differences(const NamespaceMapping& other) const {
  std::set<std::string, std::less<>> found;
  const auto note = [&found](const auto& some, const auto& others) {
    for (const auto& [local, remote] : some)
      if (const auto same = others.find(local); same == others.end() || same->second != remote) found.insert(local);
  };
  note(tables_->forward, other.tables_->forward);
  note(other.tables_->forward, tables_->forward);
  note(tables_->withdrawn, other.tables_->withdrawn);
  note(other.tables_->withdrawn, tables_->withdrawn);
  std::ranges::set_symmetric_difference(tables_->troubled, other.tables_->troubled, std::inserter(found, found.end()));
  return found;
}

}  // namespace liqo::core
