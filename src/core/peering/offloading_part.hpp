// The part of a virtual node that counts in the status of its provider's ForeignCluster.
// Tested by test/unit/controllers/peering/foreign_cluster_test.cpp.
#pragma once

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// All that forge_foreign_cluster_status() takes from a VirtualNode or a Node besides its name and its cluster. Both
/// are written often, for grants and heartbeats, but this part hardly ever changes.
struct OffloadingPart {
  bool has_node = false;  ///< the VirtualNode asks for a Node
  bool is_well = false;   ///< it is running, or the Node is Ready
  bool operator==(const OffloadingPart&) const = default;
};
OffloadingPart part_of_virtual_node(const kube::Object& virtual_node);
OffloadingPart part_of_node(const kube::Object& node);

}  // namespace liqo::core
