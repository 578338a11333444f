// All controllers of one liqod, over an injected transport, clock and randomness, as the daemon and the simulations run
// them.
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

/// The dependencies of a process. All of them outlive it.
struct ProcessContext {
  kube::Environment environment;
  kube::net::Transport& home;  ///< to the cluster that this process serves
  ConnectProvider connect;
  Settings settings;
  /// Set: only the holder of this lease writes. Unset: this process leads from the start.
  std::optional<kube::LeaderElectionSettings> election;
  /// How pods are counted; unset: Quotas are not enforced.
  std::optional<quota::LedgerSettings> ledger = {};
  core::Entropy entropy = core::secure_random;
};

/// The controllers of one liqod, which is both consumer and provider. Construct it, await run(), and destroy it after
/// that has ended. One thread.
class Process {
 public:
  explicit Process(ProcessContext context);
  ~Process();

  /// Runs until cancelled, or until a part of it ends by an exception, which is thrown. Reconciles under way get their
  /// grace, then everything is joined.
  asio::awaitable<void> run() { return manager_.run(); }
  /// True once every cache that reconciling needs is complete.
  bool has_synced() const;
  /// Why has_synced() is false, a clause for /readyz: the trouble of a cache, if one has any. "" = it is true.
  std::string waiting_for() const;
  /// True while keys are due or being worked on (simulations wait for its end).
  bool is_busy() const;

  /// The pods on its virtual nodes, for the parts that serve them. Destroy the result before this process.
  OffloadedPods offloaded_pods() const { return OffloadedPods(*virtual_nodes_); }
  /// Whether this process leads, and may write as the leader.
  kube::Leadership& leadership() { return manager_.leadership(); }
  /// The two Apis of the home cluster. Only the leader may write by `leader_api`: it checks the lease before each
  /// write, and fails with Errc::stopped on every other replica. Every replica writes by `replica_api`, for what each
  /// of them serves: reviews of its callers, its certificates, the records of quotas.
  kube::Api& leader_api() { return manager_.api(); }
  kube::Api& replica_api() { return manager_.open_api(); }
  /// The caches of the home cluster, for other parts that read it. Their handles must be destroyed before this process.
  kube::InformerSet& home() { return manager_.caches(); }
  /// Records Events in the cluster at home.
  kube::EventRecorder& events() { return manager_.events(); }
  /// The ledger that admission and grants use, on every replica; null if Quotas are not enforced. It runs with this
  /// process.
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
