// VirtualNode → Node, and a session with the provider for each.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/runtime/controller.hpp"
#include "liqo/controllers/node_leases.hpp"
#include "liqo/controllers/provider_session.hpp"

namespace liqo::controllers {

/// Keeps one ProviderSession per VirtualNode (on every replica, so that each can serve the kubelet API) and, where this
/// process leads, the Node, its lease and the VirtualNode's conditions. Deleting a VirtualNode drains the Node first:
/// pods are evicted with regard to disruption budgets, and the session works until nothing is left. Pods of a provider
/// that is declared permanently unreachable are removed by force. One thread.
class VirtualNodeController {
 public:
  VirtualNodeController(const asio::any_io_executor& executor, ConnectProvider connect, Context context);
  ~VirtualNodeController();

  /// Runs until cancelled; every session is stopped then.
  asio::awaitable<void> run();
  /// True once VirtualNodes, Nodes and, for every session, the pods at home are known.
  bool has_synced() const;
  bool is_busy() const;

  /// The session of the node that runs this local pod, or null.
  ProviderSession* find_session(const kube::ObjectKey& local_pod) const;
  /// The session of a VirtualNode, or null.
  const ProviderSession* session_of(const kube::ObjectKey& virtual_node) const;
  /// The names of the VirtualNodes that exist.
  std::vector<std::string> node_names() const;

 private:
  struct Entry {
    std::string digest;  ///< of everything the session was made from
    std::unique_ptr<ProviderSession> session;
    kube::InformerHandle secret;
    std::string secret_name;
    std::optional<kube::Failure> trouble;  ///< why there is no session
    std::string foreign;                   ///< the Node is a machine's: why, a sentence; "" = it is not
    kube::TimePoint not_before{};          ///< of the next session, where one had to be stopped
    SessionRestarts restarts;
    /// Labels and annotations that its pods do not have at the provider, once that is known.
    std::optional<core::ReflectionFilters> left_out;
  };
  asio::awaitable<kube::Outcome> reconcile_session(kube::WorkKey key);
  void tell_withdrawal(const std::string& cluster);
  void see_foreign_cluster(const kube::ObjectKey& foreign);
  /// Logs that a Node has become Ready (`why` is ""), or is so no longer.
  void tell_readiness(const kube::ObjectKey& node, std::string why);
  asio::awaitable<kube::Outcome> reconcile_node(kube::WorkKey key);
  /// Deletes a Node of ours that has no VirtualNode: its creation was carried out late, and nobody else looks for it.
  asio::awaitable<kube::Outcome> remove_orphan(kube::ObjectKey node_key);
  asio::awaitable<kube::Outcome> tear_down(kube::Object virtual_node);
  /// Drains and deletes the Node of a VirtualNode that does not want one any more.
  asio::awaitable<kube::Outcome> withdraw_node(kube::Object virtual_node, kube::Object node);
  static bool is_withdrawing(const kube::Object& virtual_node);
  /// Drains the Node and deletes it; answers when to look again, zero = it is gone. `since` as for drain().
  asio::awaitable<kube::Result<kube::Duration>> remove_node(kube::Object virtual_node, kube::Object node,
                                                            std::string since);
  asio::awaitable<kube::Result<void>> uncordon(const kube::ObjectKey& node);
  struct Drained {
    kube::Duration look_again{};          ///< zero: no pod is left that has to be waited for
    std::vector<kube::Object> leftovers;  ///< pods that go with the Node
  };
  /// `since`: when the removal of the node began. `force`: the provider is gone for good, and the pods with it.
  asio::awaitable<kube::Result<Drained>> drain(const kube::Object& node, std::string_view since, bool force);
  bool is_lost(std::string_view cluster) const;
  asio::awaitable<kube::Result<void>> set_condition(const kube::ObjectKey& key, std::string_view type,
                                                    std::string_view status, std::string_view reason,
                                                    std::string message);
  /// Notes whether the Node is a machine's, which ends the session.
  void note_foreign(const kube::ObjectKey& key, const std::string& why);
  asio::awaitable<kube::Result<void>> write_node(const kube::Object& virtual_node);
  asio::awaitable<void> heartbeat();
  asio::awaitable<void> stop_session(kube::ObjectKey key);
  /// Stops a session that has lost a worker, and answers when there may be another one.
  asio::awaitable<kube::Duration> end_lost_session(kube::ObjectKey key);
  /// What all sessions with that cluster share.
  std::shared_ptr<ProviderBudget> budget_of(const std::string& cluster);
  core::ProviderHealth health_of(const kube::Object& virtual_node) const;
  void enqueue(const kube::ObjectKey& key);

  asio::any_io_executor executor_;
  ConnectProvider connect_;
  Context context_;
  std::map<kube::ObjectKey, Entry> entries_;
  std::map<std::string, std::weak_ptr<ProviderBudget>> budgets_;  ///< by cluster
  kube::InformerHandle virtual_nodes_, nodes_, foreign_clusters_, slices_;
  OptionsTemplates templates_;
  std::map<std::string, std::string> clusters_;      ///< of ForeignClusters, by their names
  std::map<std::string, std::string> withdrawals_;   ///< what is told of a cluster that has taken our rights away
  std::set<std::string> nodes_made_;                 ///< Nodes that there were, as long as their VirtualNode is there
  std::map<std::string, std::string> told_unready_;  ///< why a Node was not Ready last; "" = it was
  NodeLeases leases_;
  kube::Controller sessions_, node_controller_;
  kube::Log log_;
};

}  // namespace liqo::controllers
