// All controllers of one liqod, over an injected transport, clock and randomness: what the daemon and simulations run.
// Tested by test/unit/controllers/nodes/network_check_test.cpp.
// Tested by test/sim/main.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_link.hpp"
#include "controllers/process/offloaded_pods.hpp"
#include "kube/runtime/manager.hpp"
#include "quota/quota_ledger.hpp"

namespace liqo::controllers {

class ProviderBudgets;
class Runnable;
class StateMetrics;

/// What a process is given. Everything outlives it.
struct ProcessContext {
  kube::Environment environment;
  kube::net::Transport& home;  ///< to the cluster that this process serves
  ConnectProvider connect;
  Settings settings;
  /// Set: only the holder of this lease writes. Unset: this process leads from the start.
  std::optional<kube::LeaderElectionSettings> election;
  /// How pods are counted; unset: Quotas bind nobody.
  std::optional<quota::LedgerSettings> ledger = {};
  core::Entropy entropy = core::secure_random;
};

/// The controllers of one liqod, which is consumer and provider at once. Construct it, then await run(), and destroy it
/// when that has ended. One thread.
class Process {
 public:
  explicit Process(ProcessContext context);
  ~Process();

  /// Runs until cancelled, or until a part of it ends by an exception, which is thrown. Reconciles under way get their
  /// grace, then everything is joined.
  asio::awaitable<void> run() { return manager_.run(); }
  /// True once every cache that reconciling needs is complete.
  bool has_synced() const;
  /// Why has_synced() is false, a clause for /readyz: the trouble of a cache, where one has any. "" = it is true.
  std::string waiting_for() const;
  /// True while keys are due or being worked on (simulations wait for its end).
  bool is_busy() const;

  /// The pods on its virtual nodes, for those who serve them. Must be gone before this process.
  OffloadedPods offloaded_pods() const { return OffloadedPods(*virtual_nodes_); }
  /// Whether this process leads, and may write as the leader.
  kube::Leadership& leadership() { return manager_.leadership(); }
  /// The two Apis of the cluster at home. Only the leader may write by `leader_api`, which asks the lease before each
  /// write and answers Errc::stopped on every other replica; every replica writes by `replica_api`, for what each of
  /// them serves: reviews of its callers, its certificates, the records of quotas.
  kube::Api& leader_api() { return manager_.api(); }
  kube::Api& replica_api() { return manager_.open_api(); }
  /// The caches of the cluster at home, for others that read it. Their handles must be gone before this process.
  kube::InformerSet& home() { return manager_.caches(); }
  /// Records Events in the cluster at home.
  kube::EventRecorder& events() { return manager_.events(); }
  /// What admission and grants go by, on every replica; null where Quotas bind nobody. It runs with this process.
  quota::QuotaLedger* ledger() { return ledger_.get(); }
  /// For controllers that run beside this process, and end before it.
  Context context() { return shared_; }

 private:
  std::unique_ptr<Runnable> make_provisioner();
  std::unique_ptr<quota::QuotaLedger> make_ledger();

  ProcessContext context_;
  kube::Manager manager_;
  ProviderAccounts accounts_;
  Context shared_;
  std::unique_ptr<ProviderBudgets> budgets_;
  std::unique_ptr<quota::QuotaLedger> ledger_;
  std::vector<std::unique_ptr<Runnable>> controllers_;
  std::unique_ptr<VirtualNodeController> virtual_nodes_;
  std::unique_ptr<StateMetrics> state_metrics_;
};

}  // namespace liqo::controllers
