#include "kube/runtime/to_keys.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kube {
namespace {

bool is_of_kind(const OwnerReference& owner, const Resource& kind) {
  const std::string_view version(owner.api_version);
  const std::size_t slash = version.find('/');
  return owner.kind == kind.kind && (slash == std::string_view::npos ? "" : version.substr(0, slash)) == kind.group;
}

}  // namespace

std::function<std::vector<ObjectKey>(const ObjectKey&)> in_namespace_of(const InformerHandle& objects) {
  return [store = &objects->store()](const ObjectKey& changed) { return store->keys_in(changed.ns); };
}

std::function<std::optional<ObjectKey>(const ObjectKey&)> without_prefix(std::string prefix,
                                                                         const InformerHandle& objects) {
  return [prefix = std::move(prefix), store = &objects->store()](const ObjectKey& changed) -> std::optional<ObjectKey> {
    if (!changed.name.starts_with(prefix)) return std::nullopt;
    ObjectKey key{changed.ns, changed.name.substr(prefix.size())};
    if (!store->contains(key)) return std::nullopt;
    return key;
  };
}

std::function<std::vector<ObjectKey>(const Change&)> to_owner(const Resource& owner) {
  return [owner](const Change& change) {
    std::vector<ObjectKey> keys;
    for (const Object* object : {change.now, change.previous()}) {
      if (!object) continue;
      for (OwnerReference& reference : object->owner_references()) {
        if (!is_of_kind(reference, owner)) continue;
        ObjectKey key{owner.namespaced ? change.key.ns : "", std::move(reference.name)};
        if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
      }
    }
    return keys;
  };
}

}  // namespace kube
