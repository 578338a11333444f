// Which labels of a virtual node's Node other clusters and templates may not set.
// Tested by test/unit/core/slices/objects_test.cpp and test/unit/core/nodes/node_test.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace liqo::core {

/// Whether the consumer's own cluster distinguishes nodes by the label, so that neither another cluster nor a
/// VkOptionsTemplate may set it. These are Liqo's labels of virtual nodes and those in kubernetes.io and k8s.io
/// domains, except region, zone, and a known OS or architecture. `refused`: further keys, or "domain/*".
bool is_reserved_node_label(std::string_view name, std::string_view value, std::span<const std::string> refused);

}  // namespace liqo::core
