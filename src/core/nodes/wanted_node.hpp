// The parts that the Node of a virtual node is to have.
// Tested by test/unit/core/nodes/node_test.cpp.
#pragma once

#include "core/nodes/node.hpp"

namespace liqo::core {

/// The scheme of the providerIDs of virtual nodes. Cloud controllers ignore Nodes whose providerID has another scheme
/// than theirs.
inline constexpr std::string_view provider_scheme = "liqo://";
/// `liqo://<provider's cluster ID>/<name of the node>`.
std::string provider_id(const api::VirtualNode& virtual_node);

kube::json::object node_labels(const api::VirtualNode& virtual_node, const NodeContext& ctx);
kube::json::object node_annotations(const api::VirtualNode& virtual_node, const NodeContext& ctx);
kube::json::array node_taints(const api::VirtualNode& virtual_node, const ProviderHealth& health);
kube::json::object node_resources(const api::VirtualNode& virtual_node);
kube::json::array node_conditions(const api::VirtualNode& virtual_node, const kube::json::object& resources,
                                  const ProviderHealth& health, kube::WallTime now);
kube::json::object node_status(const NodeSources& of, kube::WallTime now);

/// The taint with this key and effect, or nullptr.
const kube::json::value* find_taint(const kube::json::array& taints, std::string_view key, std::string_view effect);

/// What an earlier update set on a Node, by key; taints by key and effect.
struct AppliedKeys {
  kube::json::array labels, annotations, taints;
};
AppliedKeys read_applied(const kube::Object& node);

/// The value of the annotation that remembers what was asked for: keys of labels and annotations, taints by key and
/// effect.
std::string applied_entries(const kube::json::object& labels, const kube::json::object& annotations,
                            const kube::json::array& taints);

}  // namespace liqo::core
