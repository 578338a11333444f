// The sessions with providers: one for each VirtualNode, and what those of one provider share.
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
/// that loses a worker is made anew, as is a cluster with all of its sessions. One thread.
class ProviderSessions {
 public:
  /// `changed` is called with a VirtualNode of which something has changed that its Node shows. Must not suspend.
  /// `budgets` outlive it.
  ProviderSessions(ConnectProvider connect, ProviderBudgets& budgets, Context context,
                   std::function<void(const kube::ObjectKey&)> changed);

  /// Runs until cancelled; every session is stopped then.
  asio::awaitable<void> run();
  /// True once all VirtualNodes are known, whether each can have a session, and the pods of those that have one.
  bool has_synced() const;
  bool is_busy() const;

  /// The session of the node that runs this local pod, or null.
  ProviderSession* find_running(const kube::ObjectKey& local_pod) const;
  /// The session of a VirtualNode, or null.
  ProviderSession* find(const kube::ObjectKey& virtual_node) const;
  /// Why there is none, a sentence; "" = nothing is known to be wrong.
  std::string trouble(const kube::ObjectKey& virtual_node) const;
  /// Whether the Node of that name is a machine's: the pods on it are none of ours, and there is no session.
  bool is_foreign(const kube::ObjectKey& virtual_node) const;
  /// Notes why that Node is a machine's; "" = it is not.
  void note_foreign(const kube::ObjectKey& virtual_node, const std::string& why);

 private:
  struct Entry : SessionSlot<ProviderSession> {
    bool is_settled = false;  ///< there has been one, or a reason for none
    kube::InformerHandle secret;
    std::string secret_name;
    std::optional<kube::Failure> trouble;  ///< why there is no session, or no new one
    std::string foreign;                   ///< the Node is a machine's: why, a sentence; "" = it is not
    /// Labels and annotations that its pods do not have at the provider, once that is known.
    std::optional<core::ReflectionFilters> left_out;
    std::string told_blockage;    ///< why the provider could not be read when it was last told
    std::string tokens_withheld;  ///< why the VkOptionsTemplate withholds tokens; "" = it does not
  };
  struct Shared {
    std::shared_ptr<ProviderCluster> cluster;
    kube::TimePoint not_before{};  ///< of the next, where one had to be stopped
    SessionRestarts restarts;
    std::optional<kube::Failure> trouble;  ///< why it had to be, where people should know
  };

  /// What a session is made from.
  struct Makings {
    kube::Object secret;
    core::ReflectionFilters left_out;
    std::vector<std::string> addresses;  ///< of the API server here, as the network module gives them
    bool withholds_tokens;
    std::string credentials;  ///< a digest of the Secret
    std::string digest;       ///< of the rest
  };
  /// Of everything that a session is made from, but for its credentials.
  static std::string digest_of(const kube::Object& virtual_node, const Makings& makings);

  /// The tenant namespace here, and the cluster that it is of.
  static kube::ObjectKey home_of(const kube::Object& virtual_node);
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Whether there is a session that is made from this, or that can go on with these credentials.
  bool has_session_of(const kube::ObjectKey& key, const Makings& makings);
  /// The VirtualNode has gone.
  asio::awaitable<void> forget(kube::ObjectKey key);
  /// Stops a session that was lost. Answers how long to wait before the next one; nothing = it may begin.
  asio::awaitable<std::optional<kube::Duration>> rest_of_pause(kube::Object virtual_node);
  /// Why a VirtualNode, or the Node of its name, cannot have a session.
  std::optional<kube::Failure> why_unfit(const kube::Object& virtual_node) const;
  /// What a session is to be made from, or how the reconcile ends without it.
  std::expected<Makings, kube::Outcome> read_makings(const kube::Object& virtual_node);
  /// Takes what the VkOptionsTemplate says; how the reconcile ends where that is not known.
  std::optional<kube::Outcome> read_options(const kube::Object& virtual_node, Entry& entry);
  /// Connects, and puts a new session in the place of what there is.
  asio::awaitable<kube::Outcome> begin_session(kube::Object virtual_node, Makings makings);
  void start_session(const kube::Object& virtual_node, Makings makings, std::shared_ptr<ProviderLink> link);
  /// Whether a VirtualNode of that name in another namespace has a session.
  bool has_session_elsewhere(const kube::ObjectKey& key) const;
  /// Notes and tells why there is no session, or why the one that there is goes on with what it was made from.
  void refuse(const kube::Object& virtual_node, kube::Failure failure);
  /// Tells why a provider that answers cannot be read, or that it can again.
  void tell_blockage(const kube::ObjectKey& key, const std::string& blockage);
  /// Stops a session, and its cluster with the last one, unless that goes on with the `next` connection.
  asio::awaitable<void> stop_session(kube::ObjectKey key, std::shared_ptr<ProviderLink> next = nullptr);
  /// Stops every session, and what they share.
  asio::awaitable<void> stop_sessions();
  /// Stops a session that has lost a worker, and answers when there may be another one.
  asio::awaitable<kube::Duration> end_lost_session(kube::ObjectKey key);
  /// Stops a cluster that cannot go on, with its sessions.
  asio::awaitable<void> end_broken_cluster(kube::ObjectKey home);
  std::shared_ptr<ProviderCluster> cluster_of(const kube::ObjectKey& home);
  /// Whether providers may be read: what is at home comes first, but no virtual node has all others wait for long.
  bool may_read() const;
  /// Has a cluster use the connection of a usable session, of several that of the oldest VirtualNode; where there is
  /// none, the `next` one. False where there is neither.
  bool lend_link(ProviderCluster& cluster, std::shared_ptr<ProviderLink> next = nullptr) const;
  core::ForgingContext forging_of(const kube::Object& virtual_node, const core::ReflectionFilters& left_out) const;
  /// Addresses that the network module has given the API server here, for pods at a provider that it connects. None
  /// where the settings say an address.
  std::vector<std::string> given_addresses(const kube::ObjectKey& home) const;
  void enqueue(const kube::ObjectKey& key) { controller_.enqueue({key.text(), key}); }

  ConnectProvider connect_;
  ProviderBudgets& budgets_;
  Context context_;
  std::function<void(const kube::ObjectKey&)> changed_;
  StatusSources statuses_;
  kube::async::Slots home_lists_;  ///< for listing what is copied, to any provider
  std::map<kube::ObjectKey, Entry> entries_;
  std::map<kube::ObjectKey, Shared> clusters_;  ///< by tenant namespace here and cluster
  kube::InformerHandle virtual_nodes_;
  OptionsTemplates templates_;
  kube::InformerHandle ips_, configurations_;  ///< where `given_addresses` are asked for
  kube::TimePoint begun_{};
  bool is_ending_ = false;  ///< what sessions share has been stopped, and no connection is lent any more
  kube::Controller controller_;
  kube::Log log_;
};

}  // namespace liqo::controllers
