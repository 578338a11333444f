// The next step in a cluster that has Liqo. Pure.
// Tested by test/unit/liqoctl/model/info/next_step_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// The objects of a cluster by which the next step is known.
struct Progress {
  std::vector<kube::Object> peers;          ///< ForeignClusters
  std::vector<kube::Object> slices = {};    ///< ResourceSlices that ask providers
  std::vector<kube::Object> virtual_nodes;  ///< VirtualNodes
  std::vector<std::string> peering_users;   ///< IDs of the consumers that have one
  bool has_offloadings = false;
};

/// "; next: liqoctl peer …", to be appended to the result of a command; "" = there is no next step.
std::string next_step(const Progress& progress);

/// The next step right after a consumer has peered with this provider, in the same form. `progress` has the slices and
/// virtual nodes of this provider only.
std::string step_after_peering(std::string_view provider, const Progress& progress);

}  // namespace liqoctl::model
