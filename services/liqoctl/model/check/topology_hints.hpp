// Services of a cluster that lose the hints of topology-aware routing by a virtual node. Pure.
// Tested by test/unit/liqoctl/model/check/topology_hints_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// A virtual node for which kube-controller-manager gives no hints to any Service, and why.
struct HintlessNode {
  std::string name;
  bool has_zone = false, has_cpu = false;
};
/// The Ready virtual nodes without a zone or without CPU, if all other Ready nodes have both. Otherwise the virtual
/// nodes are not the reason, and the list is empty. Nodes of the control plane do not count
/// (https://kubernetes.io/docs/concepts/services-networking/topology-aware-routing/).
std::vector<HintlessNode> hintless_nodes(const std::vector<kube::Object>& nodes);

/// Whether the Service asks for hints: `service.kubernetes.io/topology-mode: Auto`, or its older name.
bool wants_hints(const kube::Object& service);

/// One sentence about both, with what to do; "" if either list is empty. `services`: all of the cluster.
std::string lost_hints_in_words(const std::vector<HintlessNode>& nodes, const std::vector<kube::Object>& services);

}  // namespace liqoctl::model
