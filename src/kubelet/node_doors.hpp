// The ports of virtual nodes at this process, which come and go with the Nodes.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/nodes/node_ports.hpp"
#include "kube/async/event.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/telemetry/log.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

class KubeletServer;

/// Knows from the Nodes who is asked at which port, and has a server listen there. A port that cannot be opened costs
/// its own node only: that is logged once and tried again. One thread.
class NodeDoors {
 public:
  static constexpr kube::Duration pause = std::chrono::seconds(5);  ///< between two tries to open a port

  /// `missing`: how many ports cannot be opened.
  NodeDoors(const kube::Environment& environment, kube::InformerSet& home, core::PortRange range, kube::Gauge missing);

  /// The nodes that are asked at a port of this process; one beyond the range is taken for the first.
  std::set<std::string> nodes_at(std::uint16_t port) const;
  /// The Node of that name, if it is there.
  std::optional<kube::Object> find(const std::string& node) const { return informer_->find({"", node}); }
  /// Opens and closes ports of a server that listens on the first. Ends only by cancellation.
  asio::awaitable<void> run(KubeletServer& server);

 private:
  void see(const kube::Change& change);
  /// Opens and closes what has to be; false where some port cannot be opened.
  bool arrange(KubeletServer& server);

  kube::async::Clock& clock_;
  core::PortRange range_;
  kube::Gauge missing_;
  kube::async::Event changed_;
  core::NodePorts shown_;
  std::map<std::uint16_t, std::set<std::string>> nodes_;
  std::set<std::uint16_t> open_, refused_;
  kube::InformerHandle informer_;
  kube::Log log_;
};

}  // namespace liqo::kubelet
