// Options of an operator for virtual nodes, and for nodes that fail.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/nodes/node_ports.hpp"
#include "kube/base/time.hpp"

namespace liqo::controllers {

/// The options of liqod about virtual nodes, and about nodes that fail. A default here is that of the option.
struct NodeSettings {
  std::string node_ip;  ///< InternalIP of every virtual node, where the kubelet API is served
  core::PortRange kubelet_ports{.first = 10250, .count = 64};  ///< each virtual node has one of them
  std::string kubelet_version;                                 ///< shown until that of the provider is known
  std::map<std::string, std::string> node_extra_labels, node_extra_annotations;  ///< on every virtual node
  /// Labels that a provider cannot set on its virtual nodes: keys, or "domain/*".
  std::vector<std::string> refused_node_labels;
  /// Whether virtual nodes are in the zone and region that all nodes of their provider share.
  bool takes_provider_zones = false;
  kube::Duration probe_interval = std::chrono::seconds(10);  ///< between two probes of a provider's API server
  kube::Duration probe_timeout = std::chrono::seconds(5);    ///< for the answer to one of them
  int probe_failures = 3;                                    ///< in a row, until a node is no longer Ready
  kube::Duration lease_interval = std::chrono::seconds(10);  ///< between two renewals of a virtual node's lease
  std::int64_t lease_seconds = 40;  ///< for which a renewal holds: the field leaseDurationSeconds
  /// Whether pods of consumers that do not end on a node that is not Ready are deleted by force.
  bool node_failures = false;
};

}  // namespace liqo::controllers
