// What a VkOptionsTemplate adds to the Nodes of the virtual nodes that follow it.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Further labels and annotations of a Node.
struct NodeExtras {
  kube::json::object labels, annotations;
};

/// `nodeExtraLabels` and `nodeExtraAnnotations` of a template, without what no Node can have, what Kubernetes goes by
/// (`is_reserved_node_label`) and what Liqo notes on a Node itself. Each of those is added to `refused`, a clause.
NodeExtras node_extras(const kube::Object& options_template, std::vector<std::string>& refused);

/// What was asked for last of a Node, as it stands there: where nobody knows what the template says, that holds on.
NodeExtras applied_extras(const kube::Object& node);

/// The VirtualNode as its Node is made of it: with the extras, but for what it says otherwise itself.
kube::Object with_extras(kube::Object virtual_node, const NodeExtras& extras);

}  // namespace liqo::core
