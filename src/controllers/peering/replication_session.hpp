// Replication with one provider: three kinds, and a watch for each kind on each side.
// Tested by test/unit/controllers/peering/replication_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_budget.hpp"
#include "controllers/links/provider_link.hpp"
#include "controllers/links/session_workers.hpp"
#include "controllers/peering/provider_probe.hpp"
#include "controllers/peering/replication_orders.hpp"
#include "controllers/peering/twin_data_guard.hpp"
#include "core/peering/missing_twins.hpp"
#include "core/peering/replication.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/telemetry/repeats.hpp"

namespace liqo::controllers {

/// Copies the objects of one tenant namespace to the tenant namespace at the provider, and brings the status back. It
/// has its own connection, caches, workers and task group, so a provider that is unreachable or refuses does not affect
/// the others. What it caches of the provider, and writes at home because of it, counts in the budget of that provider.
/// All its state is in the caches, so it can be restarted at any moment. Works while its owner leads. One thread.
class ReplicationSession {
 public:
  ReplicationSession(core::ReplicationPeer peer, std::unique_ptr<ProviderLink> link, const TwinDataGuard::Home& home,
                     std::shared_ptr<ProviderBudget> budget, Context context);

  /// Starts watching, replicating and probing. Call stop() before destroying.
  void start();
  asio::awaitable<void> stop();

  const core::ReplicationPeer& peer() const { return peer_; }
  /// Sets whether the provider is gone for good: nothing at home waits for it then.
  void set_peer_lost(bool lost);
  /// Whether the provider's API server answers; nothing before the first probe.
  const std::optional<bool>& answers() const { return probe_.answers(); }
  /// By how much its clock is reported to be ahead of ours (`core::settle_clock`); 0 = nothing to report.
  std::chrono::seconds clock_ahead() const { return probe_.clock_ahead(); }
  /// Whether the provider has refused us everything in our tenant namespace there, for longer than it takes to replace
  /// a binding.
  std::optional<bool> is_withdrawn() const { return probe_.is_withdrawn(); }
  /// The note about the provider, if it does not act; nothing while it is too early to judge.
  const std::optional<core::SilenceNote>& silence() const { return orders_.silence(); }
  /// Called when answers(), clock_ahead(), is_withdrawn() or silence() changes.
  void on_health_change(std::function<void()> handler) { health_changed_ = std::move(handler); }
  /// The error that ended one of its workers, so that the session has to be restarted; "" = all run.
  const std::string& loss() const { return workers_.loss(); }
  /// Why it cannot go on, as a sentence: the provider has more objects than its budget allows. "" = it can.
  std::string overflow() const { return describe_overflow(stores_, peer_.remote); }
  /// Sets the handler that is called when loss() or overflow() becomes non-empty. Must not suspend.
  void on_end(std::function<void()> handler);
  /// Reads live whether replicas of ours are left at the provider.
  asio::awaitable<kube::Result<bool>> has_replicas();
  bool is_busy() const { return controller_.is_busy(); }
  /// Goes on with the credentials in the Secret, if the connection can (ProviderLink::renew).
  bool renew(const kube::Object& secret) { return link_->renew(secret); }

 private:
  struct Kind {
    const kube::Resource& resource;
    kube::InformerHandle home, provider;
  };
  /// The memory of one object. Losing it only costs time.
  struct Memory {
    std::optional<kube::TimePoint> refused_since;     ///< when the provider began to refuse the requests that end it
    std::optional<kube::TimePoint> ending_seen;       ///< when the replica was last known to be ending
    std::string futile_update, futile_status;         ///< patches that changed nothing when they were sent
    std::optional<kube::TimePoint> reported_refusal;  ///< when a surplus at the provider was last reported
    core::MissingTwins missing;                       ///< of a NamespaceMap
    std::map<std::string, std::string> reported;  ///< of a NamespaceMap: what was reported of a twin, by its namespace
  };
  /// An object that is being reconciled, as the caches had it on both sides.
  struct Pair {
    const Kind& kind;
    kube::WorkKey work;
    kube::ObjectKey remote_key;
    std::optional<kube::Object> local, remote;
    TwinDataGuard::Judgement judged = {};
    std::vector<api::WantedNamespace> missing = {};  ///< twins that the provider does not show at the moment
    /// Whether both sides are still as they were.
    bool is_current() const;
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Has the twins judged that the replica of a map would take along. Returns the Outcome that ends the reconcile, if
  /// it does not go on.
  asio::awaitable<std::optional<kube::Outcome>> judge_twins(Pair& pair);
  core::ReplicationPlan plan_for(const Pair& pair) const;
  /// Carries out a plan by which the replica goes, or is gone; nothing if the plan is another one.
  asio::awaitable<std::optional<kube::Outcome>> end_by_plan(Pair& pair, core::ReplicationPlan& plan);
  /// Looks for the replica from time to time, if its end has not been seen.
  asio::awaitable<kube::Outcome> await_end(const Pair& pair);
  /// Updates the replica, and takes its status over. Returns the Outcome if that has failed.
  asio::awaitable<std::optional<kube::Outcome>> follow(const Pair& pair, core::replication_action::Follow plan);
  /// Reports that the provider cannot be read. Returns the Outcome that ends the reconcile, if its cache is incomplete.
  std::optional<kube::Outcome> look_at_cache(const Pair& pair);
  /// How soon to look again, without an event: when a missing twin begins to count as gone, or claims in a kept twin
  /// may have been removed.
  std::optional<kube::Duration> next_look(const Pair& pair);
  /// Reconciles an object, and notes what the provider has to act on.
  asio::awaitable<kube::Outcome> work_on(kube::WorkKey work);
  /// The twins of a NamespaceMap that the provider does not show at the moment.
  std::vector<api::WantedNamespace> look_for_missing(const kube::WorkKey& work,
                                                     const std::optional<kube::Object>& local,
                                                     const std::optional<kube::Object>& remote);
  /// Whether a change of this replica may withdraw twins, so that TwinDataGuard has to judge it.
  bool is_guarded(const Kind& kind, const std::optional<kube::Object>& remote) const;
  /// Marks on the map at home which twins are kept; returns whether that had to be written.
  asio::awaitable<kube::Result<bool>> mark_kept(const Kind& kind, kube::Object local, TwinDataGuard::Judgement judged);
  /// Reports twins that are kept, once each.
  void report_kept(const kube::WorkKey& work, const kube::Object& local, std::vector<core::KeptTwin> kept);
  /// Keeps the replica of a map that home does not have any more, because twins are kept, and makes a map at home that
  /// shows them.
  asio::awaitable<kube::Outcome> hold(const Kind& kind, kube::WorkKey work, core::replication_action::Hold plan,
                                      std::vector<core::KeptTwin> kept);
  /// Reads live whether home still wants the replica. Fails if home cannot be read.
  asio::awaitable<kube::Result<bool>> is_wanted_live(const Kind& kind, kube::ObjectKey key);
  /// The source by which a replica is known to exist.
  enum class Witness { cache, provider, nobody };
  /// Deletes the replica of which the witness knows; if it knows of none, removes the finalizer of the local object.
  asio::awaitable<kube::Outcome> end(const Kind& kind, kube::ObjectKey key, Witness witness);
  /// The replica, read live from the provider; nothing if there is none of ours.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> look(const Kind& kind, const kube::ObjectKey& remote_key);
  asio::awaitable<kube::Outcome> create(const Kind& kind, kube::Object local, kube::Object replica);
  asio::awaitable<kube::Result<void>> update(const Kind& kind, kube::WorkKey work, kube::json::object patch);
  asio::awaitable<kube::Result<void>> write_status(const Kind& kind, kube::WorkKey work, kube::json::object patch);
  /// Reports that a status does not come home; `why`: a clause.
  void report_refused_status(const Kind& kind, const kube::Object& local, const std::string& why);
  /// Reports what an object cannot do because of a failure that lasts until a person acts.
  void report_failed(const Kind& kind, const kube::Object& local, const kube::Failure& failure, std::string_view what);
  /// Whether it is time to report an object of which the provider has more than is accepted; if so, that counts as
  /// reported.
  bool may_report_refusal(const Kind& kind, const kube::Object& local);
  /// Ends a reconcile after our own API server has refused a write. This is no failure of the provider.
  kube::Outcome failed_at_home(const Kind& kind, const kube::Object& local, kube::Failure failure,
                               std::string_view what);
  /// Ends a reconcile after the provider has refused a request, or could not answer it.
  kube::Outcome failed(const Kind& kind, const kube::Object& local, kube::Failure failure);
  /// Forgets what is remembered of an object.
  void forget(const kube::WorkKey& work);
  /// Watches each kind on both sides.
  void watch_kinds();
  /// Whether the provider refuses to let us read a kind.
  bool is_read_refused() const;
  /// Notifies the owner: see on_health_change().
  void notify();
  Kind& kind_of(const kube::WorkKey& work);
  void enqueue(const Kind& kind, const std::string& name);
  void enqueue_all();

  core::ReplicationPeer peer_;
  Context context_;
  std::unique_ptr<ProviderLink> link_;
  TwinDataGuard guard_;
  kube::Repeats unknown_maps_;  ///< what was logged of maps that home does not know
  kube::Api provider_api_;
  std::shared_ptr<ProviderBudget> budget_;
  std::function<void()> ended_;
  kube::StoreBudget stores_;
  kube::InformerSet provider_;
  std::vector<Kind> kinds_;
  std::map<kube::WorkKey, Memory> memory_;
  bool peer_lost_ = false;
  ProviderProbe probe_;
  std::function<void()> health_changed_;
  kube::Controller controller_;
  ReplicationOrders orders_;
  SessionWorkers workers_;
  kube::Log log_;
};

}  // namespace liqo::controllers
