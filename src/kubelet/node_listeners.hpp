// Opens and closes this process's ports for virtual nodes, as their Nodes come and go.
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

/// Knows from the Nodes which node is served at which port, and makes a server listen there. A port that cannot be
/// opened affects only its own node: that is logged once, and tried again. One thread.
class NodeListeners {
 public:
  static constexpr kube::Duration pause = std::chrono::seconds(5);  ///< between two tries to open a port

  /// `missing`: how many ports cannot be opened.
  NodeListeners(const kube::Environment& environment, kube::InformerSet& home, core::PortRange range,
                kube::Gauge missing);

  /// The nodes that are served at a port of this process; a port outside the range counts as the first.
  std::set<std::string> nodes_at(std::uint16_t port) const;
  /// The Node of that name, if it exists.
  std::optional<kube::Object> find(const std::string& node) const { return informer_->find({"", node}); }
  /// Opens and closes ports of a server that listens on the first. Ends only by cancellation.
  asio::awaitable<void> run(KubeletServer& server);

 private:
  void see(const kube::Change& change);
  /// Opens and closes ports as needed; false if a port cannot be opened.
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
