// Reconciles VirtualNodes: keeps their Nodes, leases and conditions, and their sessions.
// Tested by test/unit/controllers/nodes/network_check_test.cpp.
// Tested by test/sim/main.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/options_templates.hpp"
#include "controllers/nodes/kubelet_ports.hpp"
#include "controllers/nodes/namesakes.hpp"
#include "controllers/nodes/node_drain.hpp"
#include "controllers/nodes/node_leases.hpp"
#include "controllers/nodes/node_writer.hpp"
#include "controllers/peering/peer_notices.hpp"
#include "controllers/sessions/provider_sessions.hpp"
#include "core/nodes/virtual_node_plan.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/view.hpp"

namespace liqo::controllers {

/// While this process leads, keeps the Node of each VirtualNode, its lease and the VirtualNode's conditions. Deleting a
/// VirtualNode drains the Node first: evictions respect PodDisruptionBudgets, and the session with the provider works
/// until nothing is left. Pods of a provider that is declared permanently unreachable are removed by force. Of several
/// VirtualNodes of one name the oldest has the Node. The sessions run on every replica. One thread.
class VirtualNodeController {
 public:
  /// `budgets` outlive it.
  VirtualNodeController(ConnectProvider connect, ProviderBudgets& budgets, Context context);
  ~VirtualNodeController();

  /// Runs until cancelled.
  asio::awaitable<void> run();
  /// True once VirtualNodes, Nodes, ResourceSlices and, for every session, the pods at home are known.
  bool has_synced() const;
  bool is_busy() const { return sessions_.is_busy() || namesakes_.is_busy() || controller_.is_busy(); }
  const ProviderSessions& sessions() const { return sessions_; }
  /// The names of the VirtualNodes that exist.
  std::vector<std::string> node_names() const;
  /// The session of the VirtualNode whose Node has that name, or null.
  ProviderSession* session_of(const std::string& node) const;

 private:
  struct NodeIdentity {
    std::string uid;
    bool is_foreign = false;  ///< see core::why_foreign()
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// Carries out the plan.
  asio::awaitable<kube::Outcome> carry_out(kube::Object virtual_node, core::virtual_node_action::Keep plan);
  /// Forgets a VirtualNode that is gone.
  void forget(const std::string& name);
  /// Deletes a Node of ours whose VirtualNode was gone before the server carried out the creation of the Node.
  asio::awaitable<kube::Outcome> remove_orphan(kube::ObjectKey node_key);
  asio::awaitable<kube::Outcome> tear_down(kube::Object virtual_node);
  /// Drains and deletes the Node of a VirtualNode that wants none any more.
  asio::awaitable<kube::Outcome> withdraw_node(kube::Object virtual_node, kube::Object node);
  /// Drains the Node and deletes it; returns when to look again, zero = it is gone. `since` as for NodeDrain::drain().
  asio::awaitable<kube::Result<kube::Duration>> remove_node(kube::Object virtual_node, kube::Object node,
                                                            std::string since);
  asio::awaitable<kube::Result<void>> set_condition(const kube::ObjectKey& key, kube::Condition condition);
  void enqueue_nodes(const std::vector<std::string>& names);
  asio::awaitable<void> heartbeat();
  core::ProviderHealth health_of(const kube::Object& virtual_node) const;
  void enqueue(const kube::ObjectKey& key) { controller_.enqueue({key.text(), key}); }
  asio::awaitable<void> reconcile_all();

  Context context_;
  kube::InformerHandle virtual_nodes_, nodes_, slices_;
  kube::View<NodeIdentity> node_identities_;  ///< for heartbeats, which must not parse Nodes
  PeerNotices notices_;
  KubeletPorts ports_;
  OptionsTemplates templates_;
  NodeLeases leases_;
  ProviderSessions sessions_;
  NodeWriter writer_;
  NodeDrain drain_;
  NamesakeController namesakes_;
  kube::Controller controller_;
  kube::Log log_;
};

}  // namespace liqo::controllers
