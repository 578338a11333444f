#include "liqo/api/namespace_map.hpp"

#include "liqo/api/labels.hpp"

namespace liqo::api {

std::vector<MappedNamespace> NamespaceMap::current_mapping(std::size_t max_entries) const {
  std::vector<MappedNamespace> entries;
  for (const auto& [local, value] : kube::object_at(object_->status(), {"currentMapping"})) {
    if (entries.size() >= max_entries) break;
    entries.push_back({.local = std::string(local),
                       .remote = std::string(kube::string_at(value, {"remoteNamespace"})),
                       .phase = std::string(kube::string_at(value, {"phase"})),
                       .message = std::string(kube::string_at(value, {"message"}))});
  }
  return entries;
}

std::vector<WantedNamespace> NamespaceMap::desired_mapping(std::size_t max_entries) const {
  std::vector<WantedNamespace> entries;
  for (const auto& [local, value] : kube::object_at(object_->spec(), {"desiredMapping"})) {
    if (entries.size() >= max_entries) break;
    if (value.is_string()) entries.push_back({.local = std::string(local), .remote = std::string(value.get_string())});
  }
  return entries;
}

bool NamespaceMap::is_outgoing_to(std::string_view remote) const {
  return object_->label(labels::replication) == "true" && object_->label(labels::replication_destination) == remote;
}

bool NamespaceMap::is_incoming() const { return object_->label(labels::replicated) == "true" && !origin().empty(); }
std::string_view NamespaceMap::origin() const { return object_->label(labels::replication_origin); }

}  // namespace liqo::api
