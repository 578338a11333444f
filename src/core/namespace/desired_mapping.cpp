#include "liqo/core/namespace/desired_mapping.hpp"

#include <algorithm>

#include "../forge/node_parts.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/namespace/remote_name.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace labels = api::labels;
namespace {

json::object replication_labels(std::string_view remote_cluster) {
  return {{labels::remote_cluster_id, remote_cluster},
          {labels::replication, "true"},
          {labels::replication_destination, remote_cluster}};
}

}  // namespace

bool is_selected(const NodeSelector& selector, const OfferedNode& offered) {
  if (selector.empty()) return true;
  const api::VirtualNode virtual_node(*offered.virtual_node);
  if (offered.node) return selector.matches(virtual_node.name(), offered.node->labels());
  return selector.matches(virtual_node.name(), node_labels(virtual_node, NodeContext{}));
}

bool is_any_selected(const NodeSelector& selector, std::span<const OfferedNode> nodes) {
  return std::ranges::any_of(nodes, [&](const OfferedNode& offered) { return is_selected(selector, offered); });
}

WantedTwins wanted_twins(std::span<const kube::Object> offloadings, std::span<const OfferedNode> nodes,
                         std::string_view local_cluster, const WantedTwins& current) {
  WantedTwins wanted;
  for (const kube::Object& object : offloadings) {
    const api::NamespaceOffloading offloading(object);
    if (!offloading.has_right_name() || object.is_deleting() ||
        !object.has_finalizer(api::finalizers::namespace_offloading))
      continue;
    const std::string local(object.ns());
    const auto selector = NodeSelector::parse(offloading.cluster_selector());
    auto name = remote_namespace_name(offloading, local_cluster);
    if (!selector || !name) {
      if (const auto present = current.find(local); present != current.end()) wanted.insert(*present);
      continue;
    }
    if (is_any_selected(*selector, nodes)) wanted.insert_or_assign(local, std::move(*name));
  }
  return wanted;
}

kube::Object forge_namespace_map(const kube::ObjectKey& key, std::string_view remote_cluster,
                                 const WantedTwins& wanted) {
  kube::Object map = kube::Object::make(api::kinds::namespace_maps, key);
  map.mutable_metadata()["labels"] = replication_labels(remote_cluster);
  json::object& desired = kube::ensure_object(map.mutable_spec(), "desiredMapping");
  for (const auto& [local, remote] : wanted) desired[local] = remote;
  return map;
}

std::optional<json::object> plan_namespace_map(const kube::Object& map, std::string_view remote_cluster,
                                               const WantedTwins& wanted) {
  json::object marks;
  for (const auto& [key, value] : replication_labels(remote_cluster))
    if (map.label(key) != value.get_string()) marks[key] = value;
  const json::object& present = kube::object_at(map.spec(), {"desiredMapping"});
  json::object changes;
  for (const auto& [local, remote] : wanted)
    if (kube::string_at(present, {local}) != remote) changes[local] = remote;
  for (const auto& [local, remote] : present)
    if (!wanted.contains(std::string_view(local))) changes[local] = nullptr;
  if (marks.empty() && changes.empty()) return std::nullopt;

  json::object metadata{{"resourceVersion", map.resource_version()}};
  if (!marks.empty()) metadata["labels"] = std::move(marks);
  json::object patch{{"metadata", std::move(metadata)}};
  if (!changes.empty()) patch["spec"] = json::object{{"desiredMapping", std::move(changes)}};
  return patch;
}

}  // namespace liqo::core
