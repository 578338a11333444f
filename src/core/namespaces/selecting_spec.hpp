// The part of a VirtualNode that decides which namespaces have a twin at its provider.
// Tested by test/unit/controllers/namespaces/outgoing_namespace_map_test.cpp.
#pragma once

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The spec without what was granted: the grants of a share change all the time, and select nothing.
inline kube::json::object selecting_spec(const kube::Object& virtual_node) {
  kube::json::object spec = virtual_node.spec();
  spec.erase("resourceQuota");
  return spec;
}

}  // namespace liqo::core
