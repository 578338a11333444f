// Which port of the kubelet API each virtual node gets, as the process that leads decides it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/nodes/node_ports.hpp"

namespace liqo::controllers {

/// Nodes keep the decisions over restarts and changes of the lead; what is decided and not written yet is known here.
/// One thread.
class KubeletPorts {
 public:
  explicit KubeletPorts(core::PortRange range) : range_(range) {}

  /// Takes the port that a Node shows; nothing: there is no such Node. Answers which nodes may get another port because
  /// of that.
  std::vector<std::string> see(const std::string& node, std::optional<std::int64_t> port);
  struct Decision {
    std::uint16_t port = 0;
    bool is_shared_now = false;  ///< no port is left for it alone, and this has not been said before
  };
  Decision decide(const std::string& node);
  /// There is to be no Node of that name. Answers as see().
  std::vector<std::string> forget(const std::string& node);
  /// What was decided and not written is void: another process has led meanwhile.
  void forget_decisions();

 private:
  /// The port that a node counts as having; nothing: it is not known.
  std::optional<std::int64_t> claim_of(const std::string& node) const;
  /// Takes in what was decided or shown of a node.
  void read_claim(const std::string& node);
  bool are_all_taken() const;
  /// How many nodes have the port that `core::plan_node_ports` gives them, as far as that is known without it.
  std::size_t placed() const;
  std::vector<std::string> concerned() const;
  /// The port that `core::plan_node_ports` gives a node, which is not asked where it need not be: it looks at all
  /// nodes.
  std::uint16_t port_for(const std::string& node) const;

  core::PortRange range_;
  core::NodePorts shown_, decided_;
  core::NodePorts claims_;                                 ///< of each node the one that counts
  std::map<std::int64_t, std::set<std::string>> holders_;  ///< who claims each port of the range
  std::set<std::string> sharing_;                          ///< of which it was said that they have no port of their own
};

}  // namespace liqo::controllers
