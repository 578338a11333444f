// The sessions with providers: one for each VirtualNode, and the shared state of each provider.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/sessions/provider_session.hpp"
#include "kube/async/slots.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Keeps a ProviderSession for each VirtualNode whose Secret can be used (of several of one name, the oldest), and a
/// ProviderCluster for each provider that has one, on every replica, so that each can serve the kubelet API. A session
/// that loses a worker is restarted, as is a cluster with all of its sessions. One thread.
class ProviderSessions {
 public:
  /// `changed` is called with a VirtualNode when something has changed that its Node shows. Must not suspend. `budgets`
  /// outlive it.
  ProviderSessions(ConnectProvider connect, ProviderBudgets& budgets, Context context,
                   std::function<void(const kube::ObjectKey&)> changed);

  /// Runs until cancelled, and then stops every session.
  asio::awaitable<void> run();
  /// True once all VirtualNodes are known, whether each can have a session, and the pods of those that have one.
  bool has_synced() const;
  bool is_busy() const;

  /// The session of the node that runs this local pod, or null.
  ProviderSession* find_running(const kube::ObjectKey& local_pod) const;
  /// The session of a VirtualNode, or null.
  ProviderSession* find(const kube::ObjectKey& virtual_node) const;
  /// Why a VirtualNode has no session, as a sentence; "" = nothing is known to be wrong.
  std::string trouble(const kube::ObjectKey& virtual_node) const;
  /// Whether the Node of that name is a machine: its pods are not ours, and there is no session.
  bool is_foreign(const kube::ObjectKey& virtual_node) const;
  /// Notes why that Node counts as a machine; "" = it does not.
  void note_foreign(const kube::ObjectKey& virtual_node, const std::string& why);

 private:
  struct Entry : SessionSlot<ProviderSession> {
    bool is_settled = false;  ///< there has been a session, or a reason for having none
    kube::InformerHandle secret;
    std::string secret_name;
    std::optional<kube::Failure> trouble;  ///< why there is no session, or no new one
    std::string foreign;                   ///< why the Node counts as a machine, as a sentence; "" = it does not
    /// Labels and annotations that its pods do not get at the provider, once these are known.
    std::optional<core::reflection::ReflectionFilters> left_out;
    std::string reported_blockage;  ///< why the provider could not be read, as it was last reported
    std::string tokens_withheld;    ///< why the VkOptionsTemplate withholds tokens; "" = it does not
  };
  struct Shared {
    std::shared_ptr<ProviderCluster> cluster;
    kube::TimePoint not_before{};  ///< the earliest time of the next one, if one had to be stopped
    SessionRestarts restarts;
    std::optional<kube::Failure> trouble;  ///< why it had to be stopped, if that is to be reported
  };

  /// The inputs from which a session is made.
  struct SessionInputs {
    kube::Object secret;
    core::reflection::ReflectionFilters left_out;
    std::vector<std::string> addresses;  ///< of the API server here, as the network module gives them
    bool withholds_tokens;
    std::string credentials;  ///< a digest of the Secret
    std::string digest;       ///< of the other inputs
  };
  /// A digest of all inputs of a session except its credentials.
  static std::string digest_of(const kube::Object& virtual_node, const SessionInputs& inputs);

  /// The tenant namespace here, and the ID of its cluster.
  static kube::ObjectKey home_of(const kube::Object& virtual_node);
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Whether there is a session that was made from these inputs, or that can go on with these credentials.
  bool has_session_of(const kube::ObjectKey& key, const SessionInputs& inputs);
  /// Stops the session of a VirtualNode that is gone, and forgets it.
  asio::awaitable<void> forget(kube::ObjectKey key);
  /// Stops a session that was lost. Returns how long to wait before the next one; nothing = it may begin.
  asio::awaitable<std::optional<kube::Duration>> rest_of_pause(kube::Object virtual_node);
  /// Why a VirtualNode, or the Node of its name, cannot have a session.
  std::optional<kube::Failure> why_unfit(const kube::Object& virtual_node) const;
  /// The inputs for a session, or the Outcome that ends the reconcile without one.
  std::expected<SessionInputs, kube::Outcome> read_inputs(const kube::Object& virtual_node);
  /// Reads the VkOptionsTemplate into the entry. Returns the Outcome that ends the reconcile if it is not known.
  std::optional<kube::Outcome> read_options(const kube::Object& virtual_node, Entry& entry);
  /// Connects, and replaces the present session with a new one.
  asio::awaitable<kube::Outcome> begin_session(kube::Object virtual_node, SessionInputs inputs);
  void start_session(const kube::Object& virtual_node, SessionInputs inputs, std::shared_ptr<ProviderLink> link);
  /// Whether a VirtualNode of that name in another namespace has a session.
  bool has_session_elsewhere(const kube::ObjectKey& key) const;
  /// Notes and reports why there is no session, or why the present one goes on with its old inputs.
  void refuse(const kube::Object& virtual_node, kube::Failure failure);
  /// Reports why a provider that answers cannot be read, or that it can be read again.
  void report_blockage(const kube::ObjectKey& key, const std::string& blockage);
  /// Stops a session, and with the last one its cluster, unless that goes on with the `next` connection.
  asio::awaitable<void> stop_session(kube::ObjectKey key, std::shared_ptr<ProviderLink> next = nullptr);
  /// Stops every session, and the state that they share.
  asio::awaitable<void> stop_sessions();
  /// Stops a session that has lost a worker, and returns when there may be another one.
  asio::awaitable<kube::Duration> end_lost_session(kube::ObjectKey key);
  /// Stops a cluster that cannot go on, with its sessions.
  asio::awaitable<void> end_broken_cluster(kube::ObjectKey home);
  std::shared_ptr<ProviderCluster> cluster_of(const kube::ObjectKey& home);
  /// Whether providers may be read: home is read first, but no virtual node may delay all others for long.
  bool may_read() const;
  /// Gives a cluster the connection of a usable session; of several, that of the oldest VirtualNode. Without any it
  /// gets the `next` one. False if there is neither.
  bool lend_link(ProviderCluster& cluster, std::shared_ptr<ProviderLink> next = nullptr) const;
  core::ForgingContext forging_of(const kube::Object& virtual_node,
                                  const core::reflection::ReflectionFilters& left_out) const;
  /// Addresses that the network module has assigned to the API server here, for pods at a provider that it connects.
  /// None if the settings have an address.
  std::vector<std::string> given_addresses(const kube::ObjectKey& home) const;
  void enqueue(const kube::ObjectKey& key) { controller_.enqueue({key.text(), key}); }

  ConnectProvider connect_;
  ProviderBudgets& budgets_;
  Context context_;
  std::function<void(const kube::ObjectKey&)> changed_;
  StatusSources statuses_;
  kube::async::Slots home_lists_;  ///< for listing objects to copy, to any provider
  std::map<kube::ObjectKey, Entry> entries_;
  std::map<kube::ObjectKey, Shared> clusters_;  ///< by tenant namespace here and cluster
  kube::InformerHandle virtual_nodes_;
  OptionsTemplates templates_;
  kube::InformerHandle ips_, configurations_;  ///< if `given_addresses` are asked for
  kube::TimePoint begun_{};
  bool is_ending_ = false;  ///< the shared state has been stopped, and no connection is lent any more
  kube::Controller controller_;
  kube::Log log_;
};

}  // namespace liqo::controllers
