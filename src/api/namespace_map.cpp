#include "liqo/api/namespace_map.hpp"

#include "liqo/api/labels.hpp"

namespace liqo::api {

std::string_view NamespaceMap::remote_cluster() const { return object_->label(labels::remote_cluster_id); }

std::vector<MappedNamespace> NamespaceMap::current_mapping(std::size_t limit) const {
  std::vector<MappedNamespace> entries;
  for (const auto& [local, value] : kube::object_at(object_->status(), {"currentMapping"})) {
    if (entries.size() >= limit) break;
    entries.push_back({.local = std::string(local),
                       .remote = std::string(kube::string_at(value, {"remoteNamespace"})),
                       .phase = std::string(kube::string_at(value, {"phase"}))});
  }
  return entries;
}

}  // namespace liqo::api
