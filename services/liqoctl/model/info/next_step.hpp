// What is to be done next in a cluster that has Liqo. Pure.
// Tested by test/unit/liqoctl/model/info/next_step_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// What there is in a cluster.
struct Progress {
  std::vector<kube::Object> peers;          ///< ForeignClusters
  std::vector<kube::Object> slices = {};    ///< ResourceSlices that ask providers
  std::vector<kube::Object> virtual_nodes;  ///< VirtualNodes
  std::vector<std::string> peering_users;   ///< IDs of the consumers that have one
  bool has_offloadings = false;
};

/// "; next: liqoctl peer …", to be put behind what was done; "" = nothing is due.
std::string next_step(const Progress& progress);

/// Likewise, once a consumer has peered with this provider: of slices and virtual nodes, `progress` has those of this
/// one.
std::string step_after_peering(std::string_view provider, const Progress& progress);

}  // namespace liqoctl::model
