// The labels and annotations that a VkOptionsTemplate adds to the Nodes of the virtual nodes that follow it.
// Tested by test/unit/core/nodes/node_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Further labels and annotations of a Node.
struct NodeExtras {
  kube::json::object labels, annotations;
};

/// What a template says of a Node.
struct TemplateExtras {
  NodeExtras usable;
  std::vector<std::string> refused;  ///< a clause about each entry that is left out
};

/// `nodeExtraLabels` and `nodeExtraAnnotations` of a template, without entries that no Node can have, that Kubernetes
/// relies on (`is_reserved_node_label`) or that Liqo itself sets.
TemplateExtras node_extras(const kube::Object& options_template);

/// The labels and annotations that were last asked for on a Node, by its VirtualNode or its template. They stand in for
/// the extras while the template cannot be read.
NodeExtras applied_extras(const kube::Object& node);

/// The VirtualNode with the extras; its own labels and annotations take precedence.
kube::Object with_extras(kube::Object virtual_node, const NodeExtras& extras);

}  // namespace liqo::core
