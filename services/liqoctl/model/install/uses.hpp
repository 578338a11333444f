// The uses of Liqo that prevent its removal. Pure.
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

/// One sentence about what is in use: first the offloaded namespaces, then for each peer the objects of this cluster as
/// its consumer and as its provider. It says who ends each use, and by which command. "" = nothing is in use.
std::string describe_uses(const Uses& uses);

}  // namespace liqoctl::model
