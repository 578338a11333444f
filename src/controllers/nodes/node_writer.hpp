// Writes the Node of a virtual node, and keeps it up to date.
// Tested by test/unit/controllers/nodes/declared_features_test.cpp.
// Tested by test/unit/controllers/nodes/network_check_test.cpp.
// Tested by test/sim/main.cpp.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/common/options_templates.hpp"
#include "controllers/nodes/kubelet_ports.hpp"
#include "controllers/nodes/node_leases.hpp"
#include "controllers/sessions/provider_sessions.hpp"
#include "core/nodes/node.hpp"

namespace liqo::controllers {

/// Writes Nodes, and logs when one is created, becomes Ready or is no longer Ready. Its arguments outlive it. One
/// thread.
class NodeWriter {
 public:
  struct Parts {
    kube::InformerHandle& nodes;
    OptionsTemplates& templates;
    KubeletPorts& ports;
    NodeLeases& leases;
    ProviderSessions& sessions;
    /// Called with the nodes that may get another port. Must not suspend.
    std::function<void(const std::vector<std::string>&)> ports_changed;
  };
  /// The time between two writes of an unchanged status: kube-controller-manager expects one at least this often,
  /// besides the lease. It varies, so that the writes of many Nodes are spread.
  static constexpr std::chrono::seconds earliest_refresh = std::chrono::minutes(3),
                                        latest_refresh = std::chrono::minutes(5);

  NodeWriter(Context context, Parts parts) : context_(context), parts_(std::move(parts)), log_("virtual-node") {}

  /// Creates or updates the Node of a VirtualNode. Errors: Errc::invalid_input, among other reasons if a machine has
  /// that name.
  asio::awaitable<kube::Result<void>> write(const kube::Object& virtual_node, core::ProviderHealth health);
  /// Uncordons a Node that was to be removed.
  asio::awaitable<kube::Result<void>> uncordon(std::string node);
  /// Forgets a Node that is gone, or whose VirtualNode is.
  void forget(const std::string& name);

 private:
  /// The VirtualNode with what its VkOptionsTemplate adds to its Node. If the template is not known, `node` (which may
  /// be null) shows what it had added.
  kube::Object with_template(const kube::Object& virtual_node, const kube::Object* node) const;
  std::uint16_t decide_port(const kube::Object& virtual_node);
  /// Creates the Node. Returns the Node that has its name already, or nothing if it was created.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> create(const kube::Object& virtual_node,
                                                                    const core::ProviderHealth& health,
                                                                    const core::NodeContext& ctx);
  /// Updates a Node of that name if it is ours.
  asio::awaitable<kube::Result<void>> update(const kube::Object& virtual_node, const kube::Object& node,
                                             const core::ProviderHealth& health, const core::NodeContext& ctx);
  /// Logs that a Node has become Ready (`why` is "") or is no longer Ready.
  void log_readiness(const kube::ObjectKey& node, std::string why);

  Context context_;
  Parts parts_;
  std::set<std::string> made_;                         ///< Nodes that exist, or existed until they are forgotten
  std::map<std::string, std::string> logged_unready_;  ///< why a Node was not Ready last; "" = it was
  kube::Log log_;
};

}  // namespace liqo::controllers
