// Which port of the kubelet API each virtual node gets, as the process that leads decides it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "liqo/core/nodes/node_ports.hpp"

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
  void forget_decisions() { decided_.clear(); }

 private:
  core::NodePorts claims() const;
  std::vector<std::string> concerned() const;

  core::PortRange range_;
  core::NodePorts shown_, decided_;
  std::set<std::string> sharing_;  ///< of which it was said that they have no port of their own
};

}  // namespace liqo::controllers
