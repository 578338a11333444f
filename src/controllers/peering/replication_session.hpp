// The traffic of replication with one provider: three kinds, a watch per kind and side, and the probe of its API
// server.
// Tested by test/unit/controllers/peering/replication_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_budget.hpp"
#include "controllers/links/provider_link.hpp"
#include "controllers/links/session_workers.hpp"
#include "controllers/peering/silence_watch.hpp"
#include "controllers/peering/twin_data_guard.hpp"
#include "core/peering/missing_twins.hpp"
#include "core/peering/replication.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/telemetry/repeats.hpp"

namespace liqo::controllers {

/// How long a provider may refuse the requests by which an object ends. A provider that refuses them for longer has
/// taken our rights away, and cleans up by itself; a binding that is replaced refuses them for a shorter time.
inline constexpr kube::Duration refusal_patience = std::chrono::seconds(15);
/// Whether the provider does not know our credentials (401) or gives them no right to this (403).
inline bool is_refused_access(const kube::Failure& failure) {
  return failure.http_code() == 401 || failure.http_code() == 403;
}

/// A digest of what the provider says of a ResourceSlice.
std::string answer_digest(const kube::Object& slice);

/// Copies the objects of one tenant namespace to its image at the provider and brings the status back. It has its own
/// connection, caches, workers and task group: a provider that is away or refuses costs the others nothing. What it
/// holds of the provider, and writes at home because of it, counts in the budget of that provider. All it knows is in
/// the caches, so it can be made anew at any moment. Works while its owner leads. One thread.
class ReplicationSession {
 public:
  ReplicationSession(core::ReplicationPeer peer, std::unique_ptr<ProviderLink> link, const TwinDataGuard::Home& home,
                     std::shared_ptr<ProviderBudget> budget, Context context);

  /// Starts watching, replicating and probing. Call stop() before destroying.
  void start();
  asio::awaitable<void> stop();

  const core::ReplicationPeer& peer() const { return peer_; }
  /// Whether the provider is gone for good: nothing at home waits for it then.
  void set_peer_lost(bool lost);
  /// Whether the provider's API server answers; nothing before the first probe.
  const std::optional<bool>& answers() const { return answers_; }
  /// How far its clock is said to be ahead of ours (`core::settle_clock`); 0 = nothing to say.
  std::chrono::seconds clock_ahead() const { return clock_ahead_; }
  /// Whether the provider has refused us everything in our tenant namespace there, for longer than it takes to make a
  /// binding anew.
  std::optional<bool> is_withdrawn() const { return withdrawn_; }
  /// What is told of the provider where it does not act; nothing while it is too early to say.
  const std::optional<core::SilenceNote>& silence() const { return silence_.note(); }
  /// Called when answers(), clock_ahead(), is_withdrawn() or silence() changes.
  void on_health_change(std::function<void()> handler) { health_changed_ = std::move(handler); }
  /// The error that ended a worker of it, so that the session has to be made anew; "" = all run.
  const std::string& loss() const { return workers_.loss(); }
  /// Why it cannot go on, a sentence: the provider shows more than is held of it. "" = it can.
  std::string overflow() const { return describe_overflow(stores_, peer_.remote); }
  /// Called when loss() or overflow() has something to say. Must not suspend.
  void on_end(std::function<void()> handler);
  /// Asks the provider itself whether replicas of ours are left there.
  asio::awaitable<kube::Result<bool>> has_replicas();
  bool is_busy() const { return controller_.is_busy(); }
  /// Goes on with the credentials of the Secret, where the connection can (ProviderLink::renew).
  bool renew(const kube::Object& secret) { return link_->renew(secret); }

 private:
  struct Kind {
    const kube::Resource& resource;
    kube::InformerHandle home, provider;
  };
  /// What is remembered of one object. Losing it costs time only.
  struct Memory {
    std::optional<kube::TimePoint> refused_since;  ///< when the provider began to refuse what ending it takes
    std::optional<kube::TimePoint> ending_seen;    ///< when the replica was last known to be on its way out
    std::string futile_update, futile_status;      ///< patches that changed nothing when they were sent
    std::optional<kube::TimePoint> refusal_told;   ///< when people were last told that there is more than is taken
    core::MissingTwins missing;                    ///< of a NamespaceMap
    std::map<std::string, std::string> told;       ///< likewise: what people were told of a twin, by its namespace
    /// Of a ResourceSlice that asks for something else since it was answered: a digest of that answer.
    std::optional<std::string> outdated_answer;
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Reconciles, and notes what the provider is to act upon.
  asio::awaitable<kube::Outcome> work_on(kube::WorkKey work);
  /// Notes what of an object waits for the provider.
  void see_orders(const kube::WorkKey& work);
  /// Likewise of a slice; `local`: as it is at home, where it is still for this provider.
  void see_slice(const kube::WorkKey& work, const std::optional<kube::Object>& local);
  /// Notes whether the provider's API server could take a replica; null = it has.
  void note_taking(const kube::WorkKey& work, const kube::Failure* failure);
  /// Has others hear of what is told of the provider. `is_news`: each slice that waits, too.
  void tell_silence(bool is_news);
  /// What the ForeignCluster tells of the provider.
  core::SilenceNote standing_silence() const;
  /// Where the Lease of the provider's leader is, as far as that is declared.
  std::string declared_namespace() const;
  /// The twins of a NamespaceMap that the provider does not show for the time being.
  std::vector<api::WantedNamespace> look_for_missing(const kube::WorkKey& work,
                                                     const std::optional<kube::Object>& local,
                                                     const std::optional<kube::Object>& remote);
  /// Whether something is withdrawn with what home does to this replica.
  bool is_guarded(const Kind& kind, const std::optional<kube::Object>& remote) const;
  /// Says on the map at home which twins are kept; answers whether that had to be written.
  asio::awaitable<kube::Result<bool>> mark_kept(const Kind& kind, kube::Object local, TwinDataGuard::Judgement judged);
  /// Tells of twins that are kept, once each.
  void tell_kept(const kube::WorkKey& work, const kube::Object& local, std::vector<core::KeptTwin> kept);
  /// The replica of a map that home does not have any more stays for its kept twins, and a map at home that says so.
  asio::awaitable<kube::Outcome> hold(const Kind& kind, kube::WorkKey work, core::replication_action::Hold plan,
                                      std::vector<core::KeptTwin> kept);
  /// Whether home, asked itself, still wants the replica. Errors where it cannot be asked.
  asio::awaitable<kube::Result<bool>> is_wanted_live(const Kind& kind, kube::ObjectKey key);
  /// Who says whether there is a replica.
  enum class Witness { cache, provider, nobody };
  /// Deletes the replica that the witness knows of; where it knows of none, removes the finalizer of the local object.
  asio::awaitable<kube::Outcome> end(const Kind& kind, kube::ObjectKey key, Witness witness);
  /// The replica as the provider has it now, whatever the cache says; nothing where there is none of ours.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> look(const Kind& kind, const kube::ObjectKey& remote_key);
  asio::awaitable<kube::Outcome> create(const Kind& kind, kube::Object local, kube::Object replica);
  asio::awaitable<kube::Result<void>> update(const Kind& kind, kube::WorkKey work, kube::json::object patch);
  asio::awaitable<kube::Result<void>> write_status(const Kind& kind, kube::WorkKey work, kube::json::object patch);
  /// Tells that a status does not come home, and why: a clause.
  void tell_refused_status(const Kind& kind, const kube::Object& local, const std::string& why);
  asio::awaitable<void> probe();
  void look_at_clock();
  /// Asks about our rights where something was refused: nobody else says that they are gone, or back.
  asio::awaitable<void> look_at_rights();
  bool was_refused() const;
  /// Says to the provider, from time to time, that this cluster is there.
  asio::awaitable<void> beat();
  /// Tells what an object is kept from by a failure that stays until somebody does something.
  void tell_failed(const Kind& kind, const kube::Object& local, const kube::Failure& failure, std::string_view what);
  /// Whether it is time to tell of an object of which the provider has more than is taken; then it is told.
  bool may_tell_refusal(const Kind& kind, const kube::Object& local);
  /// Our own API server has refused a write, which says nothing of the provider.
  kube::Outcome failed_at_home(const Kind& kind, const kube::Object& local, kube::Failure failure,
                               std::string_view what);
  /// The provider has refused a request, or could not answer it.
  kube::Outcome failed(const Kind& kind, const kube::Object& local, kube::Failure failure);
  Kind& kind_of(const kube::WorkKey& work);
  void enqueue(const Kind& kind, const std::string& name);
  void enqueue_all();
  kube::InformerScope provider_scope(const kube::Resource& resource) const;

  core::ReplicationPeer peer_;
  Context context_;
  std::unique_ptr<ProviderLink> link_;
  TwinDataGuard guard_;
  kube::Repeats unknown_maps_;  ///< what the log has of maps that home does not know
  kube::Api provider_api_;
  std::shared_ptr<ProviderBudget> budget_;
  std::function<void()> ended_;
  kube::StoreBudget stores_;
  kube::InformerSet provider_;
  std::vector<Kind> kinds_;
  std::map<kube::WorkKey, Memory> memory_;
  bool peer_lost_ = false;
  std::optional<bool> answers_;
  std::chrono::seconds clock_ahead_{0};
  bool refused_ = false;
  std::optional<bool> withdrawn_;
  std::optional<kube::TimePoint> refused_since_;
  kube::TimePoint next_look_at_rights_{};
  std::function<void()> health_changed_;
  kube::InformerHandle foreign_clusters_;
  OrderBook orders_;
  std::map<std::string, std::set<std::string>> asked_;  ///< namespaces that a map asks for twins of
  std::set<kube::WorkKey> not_taken_;  ///< those whose last replica the server of the provider could not take
  kube::Controller controller_;
  SilenceWatch silence_;
  SessionWorkers workers_;
  kube::Log log_;
};

}  // namespace liqo::controllers
