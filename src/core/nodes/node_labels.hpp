// Which labels of a virtual node's Node are not for others to set.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace liqo::core {

/// Labels by which the consumer's own cluster tells nodes apart: neither another cluster nor a VkOptionsTemplate sets
/// those. What Kubernetes and its add-ons go by is of a kubernetes.io or k8s.io domain; where the nodes are, and what
/// runs on them, is for others to say. `refused`: further keys, or "domain/*".
bool is_reserved_node_label(std::string_view name, std::string_view value, std::span<const std::string> refused);

}  // namespace liqo::core
