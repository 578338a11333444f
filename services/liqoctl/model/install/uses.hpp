// What stands in the way of an uninstallation. Pure.
// Tested by test/unit/liqoctl/model/install/uses_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// All objects of these kinds in a cluster.
struct Uses {
  std::vector<kube::Object> offloadings, slices, virtual_nodes, tenants, identities, peers;
};

/// One sentence that names what is in use, offloaded namespaces first, then for each peer what this cluster has as its
/// consumer and as its provider, each with who ends that by which command; "" = nothing.
std::string describe_uses(const Uses& uses);

}  // namespace liqoctl::model
