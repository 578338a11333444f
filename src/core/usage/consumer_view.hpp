// Which pods on the nodes of this cluster one consumer may see: its own.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace liqo::core {

/// The pods of a twin namespace on one node.
struct TwinView {
  std::string original;                     ///< name of the namespace at the consumer
  std::set<std::string, std::less<>> pods;  ///< names of the consumer's pods on the node
  bool operator==(const TwinView&) const = default;
};

/// A node that runs pods of the consumer.
struct NodeView {
  std::string name;
  std::string address;                                 ///< IP of its kubelet
  std::uint16_t port = 0;                              ///< of its kubelet
  std::map<std::string, TwinView, std::less<>> twins;  ///< by the name of the namespace here
  bool operator==(const NodeView&) const = default;
};

}  // namespace liqo::core
