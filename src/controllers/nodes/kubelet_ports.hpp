// Assigns a port of the kubelet API to each virtual node, in the process that leads.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/nodes/node_ports.hpp"

namespace liqo::controllers {

/// The Nodes store the assignments over restarts and changes of the leader; those that are not written yet are
/// remembered here. One thread.
class KubeletPorts {
 public:
  explicit KubeletPorts(core::PortRange range) : range_(range) {}

  /// Takes in the port that a Node shows; nothing: there is no such Node. Returns the nodes that may get another port
  /// because of that.
  std::vector<std::string> see(const std::string& node, std::optional<std::int64_t> port);
  struct Decision {
    std::uint16_t port = 0;
    bool is_shared_now = false;  ///< no port is left for it alone, and this has not been reported before
  };
  Decision decide(const std::string& node);
  /// Drops a Node that is to be removed. Returns the nodes that may get another port because of that.
  std::vector<std::string> forget(const std::string& node);
  /// Drops assignments that were not written: another process has led meanwhile.
  void forget_decisions();

 private:
  /// The port that a node has, written or not; nothing: it is not known.
  std::optional<std::int64_t> claim_of(const std::string& node) const;
  /// Takes in the assigned or shown port of a node.
  void read_claim(const std::string& node);
  bool are_all_taken() const;
  /// How many nodes have the port that `core::plan_node_ports` gives them, as far as that is known without it.
  std::size_t placed() const;
  std::vector<std::string> concerned() const;
  /// The port that `core::plan_node_ports` gives a node. Calls that function only if it must, because it looks at all
  /// nodes.
  std::uint16_t port_for(const std::string& node) const;

  core::PortRange range_;
  core::NodePorts shown_, decided_;
  core::NodePorts claims_;                                 ///< the one that counts for each node
  std::map<std::int64_t, std::set<std::string>> holders_;  ///< by port of the range: the nodes that claim it
  std::set<std::string> sharing_;                          ///< nodes that were reported to have no port of their own
};

}  // namespace liqo::controllers
