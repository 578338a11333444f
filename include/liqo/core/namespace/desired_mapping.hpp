// What a consumer asks of one provider: the twins of all its namespaces, in one NamespaceMap.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "liqo/api/namespace_map.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/core/node_selector.hpp"

namespace liqo::core {

/// A virtual node as cluster selectors see it.
struct OfferedNode {
  const kube::Object* virtual_node = nullptr;
  const kube::Object* node = nullptr;  ///< its Node; null where there is none (yet)
};

/// Whether the node is selected: by the labels of its Node, or by those that its Node will have. A selector without
/// terms selects every node.
bool is_selected(const NodeSelector& selector, const OfferedNode& offered);
/// Whether any of a cluster's nodes is.
bool is_any_selected(const NodeSelector& selector, std::span<const OfferedNode> nodes);

/// Local namespace to twin.
using WantedTwins = std::map<std::string, std::string, std::less<>>;

/// The twins that a provider with these nodes is to have. Every NamespaceOffloading counts that is not being deleted,
/// has the right name and has our finalizer, so that it cannot go before its twins. Where a selector or a name is
/// invalid, what `current` has for that namespace stays: a slip of the pen must not delete what runs there.
WantedTwins wanted_twins(std::span<const kube::Object> offloadings, std::span<const OfferedNode> nodes,
                         std::string_view local_cluster, const WantedTwins& current);

/// The NamespaceMap to create in the tenant namespace of a provider: named after it, and marked for replication.
kube::Object forge_namespace_map(const kube::ObjectKey& key, std::string_view remote_cluster,
                                 const WantedTwins& wanted);
/// JSON merge patch, with the resourceVersion, that gives the map the labels of replication and these twins; nothing
/// where it has them.
std::optional<kube::json::object> plan_namespace_map(const kube::Object& map, std::string_view remote_cluster,
                                                     const WantedTwins& wanted);

}  // namespace liqo::core
