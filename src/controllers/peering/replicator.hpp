// Replicates with all providers: one session for each ControlPlane kubeconfig Secret of a tenant namespace.
// Tested by test/unit/controllers/peering/replication_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/runnable.hpp"
#include "controllers/peering/peer_servers.hpp"
#include "controllers/peering/replication_session.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Keeps the sessions that the Secrets ask for: new credentials start a new session. A deleted Secret is held by a
/// finalizer until nothing is left at the provider, or the provider refuses or is given up. Objects whose credentials
/// are gone for good are released. The Secrets of each tenant namespace have a watch of their own, so a namespace that
/// may not be read yet delays no other. One thread.
class Replicator final : public Runnable {
 public:
  /// Reads the Secrets of a tenant namespace once `tenants` has the right to read them. It and `budgets` outlive this.
  Replicator(ConnectProvider connect, TenantNamespaces& tenants, ProviderBudgets& budgets, Context context);
  ~Replicator() override;

  asio::awaitable<void> run() override;
  bool has_synced() const override { return sessions_.has_synced(); }
  bool is_busy() const override;

  /// The server in the ControlPlane Secret of a provider, "" if its kubeconfig cannot be parsed; nothing if there is no
  /// such Secret.
  std::optional<std::string> server(std::string_view cluster);
  /// True once the Secrets of every tenant namespace are known: only then does the absence of one mean anything.
  bool knows_secrets() const;
  /// Whether the provider's API server answers with those credentials: false also if they cannot be used; nothing
  /// while it is not known.
  std::optional<bool> answers(std::string_view cluster) const;
  /// Why replication with that provider is at a standstill, as a sentence; "" = nothing is known to be wrong.
  std::string trouble(std::string_view cluster) const;
  /// By how much the clock of the provider's API server is reported to be ahead of ours; 0 = nothing to report.
  std::chrono::seconds clock_ahead(std::string_view cluster) const;
  /// The message about a provider that has taken our rights away (`core::describe_withdrawal`); "" = it has not.
  /// Nothing while no session knows yet, or if there is no session.
  std::optional<std::string> withdrawal(std::string_view cluster) const;
  /// The note about a provider that does not act; nothing while no session knows yet, or if there has been no session
  /// for less than a minute.
  std::optional<core::SilenceNote> silence(std::string_view cluster) const;
  /// Called with a cluster ID when server(), answers(), trouble(), clock_ahead(), withdrawal() or silence() may have
  /// changed for it. One reader.
  void on_change(std::function<void(const std::string& cluster)> handler) { changed_ = std::move(handler); }

 private:
  /// Local namespace and the provider's cluster ID, in the form of a key.
  using PeerKey = kube::ObjectKey;
  struct Peer : SessionSlot<ReplicationSession> {
    std::optional<std::string> trouble;            ///< why there is no session
    std::optional<kube::TimePoint> refused_since;  ///< when the provider began to refuse the last look
    std::optional<kube::TimePoint> unheard_since;  ///< since when no session knows whether the provider is silent
  };
  asio::awaitable<kube::Outcome> reconcile_peer(kube::WorkKey work);
  /// Lets go those Secrets of a peer that are being deleted, and reports the others. The first one is used, and left
  /// alone.
  asio::awaitable<kube::Result<void>> release_others(PeerKey key, std::vector<kube::Object> secrets);
  asio::awaitable<kube::Outcome> reconcile_orphan(kube::WorkKey work);
  asio::awaitable<kube::Outcome> close(PeerKey key, kube::Object secret);
  kube::Result<core::ReplicationPeer> check(const PeerKey& key, const kube::Object& secret) const;
  kube::Result<void> open(const PeerKey& key, const kube::Object& secret);
  /// Whether its session was made from this Secret, or can go on with the credentials that are in it now.
  bool goes_on_with(Peer& peer, const kube::Object& secret);
  asio::awaitable<void> stop_session(PeerKey key);
  /// Stops every session, after all work on them has ended.
  asio::awaitable<void> stop_sessions(kube::async::TaskGroup& workers);
  /// Stops a session that has lost a worker, and notes when there may be another one.
  asio::awaitable<void> end_lost_session(PeerKey key);
  /// Stops a session whose provider has more objects than its budget allows, notes that, and reports it on the Secret.
  asio::awaitable<void> end_overfull_session(PeerKey key, kube::Object secret);
  asio::awaitable<kube::Result<void>> set_finalizer(const kube::Object& secret, bool wanted);

  void read_namespaces();
  void see_secret(const kube::Change& secret);
  void enqueue_namespace(const std::string& ns);
  void enqueue_peer(const PeerKey& key);
  void enqueue_everything();
  void see_object(const kube::Resource& kind, const kube::ObjectKey& key);
  void see_foreign_cluster(const kube::Change& change);
  bool is_lost(std::string_view cluster) const;
  /// The Secrets of a peer, the one to use first.
  std::vector<kube::Object> secrets_of(const PeerKey& key) const;
  bool knows_secrets_of(const std::string& ns) const;
  /// The objects of a namespace that have something at that provider.
  std::vector<std::string> held_by(const PeerKey& key, bool only_wanted) const;
  /// Has the note about a silent provider withdrawn if no session begins for a minute.
  void see_unheard(const PeerKey& key);
  void notify(const std::string& cluster) {
    if (changed_) changed_(cluster);
  }

  ConnectProvider connect_;
  Context context_;
  std::vector<kube::InformerHandle> locals_;  ///< in the order of core::replicated_kinds()
  TenantNamespaces& tenants_;
  ProviderBudgets& budgets_;
  RemoteDataWatch data_;
  const TwinDataGuard::Home home_;
  std::set<std::string, std::less<>> unread_;  ///< tenant namespaces whose Secrets may not be read yet
  kube::InformerHandle namespaces_, foreign_clusters_;
  std::map<std::string, kube::InformerHandle> secrets_;  ///< by tenant namespace
  PeerServers servers_;
  std::map<PeerKey, Peer> peers_;
  std::map<kube::WorkKey, kube::TimePoint> orphans_;  ///< since when objects are without credentials
  kube::Controller sessions_, orphan_controller_;
  std::function<void(const std::string&)> changed_;
  kube::Log log_;
};

}  // namespace liqo::controllers
