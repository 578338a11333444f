// A workload with a PodDisruptionBudget, at home and at one or two providers, and people on all sides who drain nodes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "eviction_check.hpp"
#include "invariants.hpp"
#include "kube/async/task_group.hpp"
#include "kube/testing/fake/disruption_controller.hpp"
#include "kube/testing/fake/replica_set.hpp"
#include "process_box.hpp"

namespace liqo::sim {

/// One schedule of evictions. The seed decides everything. Destroy only after a run without violations: coroutines that
/// hang still use it.
class BudgetWorld {
 public:
  explicit BudgetWorld(std::uint64_t seed);

  /// Runs the schedule and returns what went wrong.
  std::vector<Violation> run();
  /// The log of actions, for a schedule that failed.
  const std::vector<std::string>& log() const { return log_; }

 private:
  using Act = void (BudgetWorld::*)();
  /// A provider and what people do there.
  struct Provider {
    std::string max_block = {};           ///< of its policy, "" = it lets no budgets hold
    bool was_withdrawn = false;           ///< it did not for a while, and is asked again after an hour
    std::set<std::string> cordoned = {};  ///< nodes
  };

  void note(std::string what);
  void set_up();
  void add_workers(Cluster& cluster, int count);
  void make_budget();
  /// Sets whether the provider lets budgets hold, and for how long.
  void offer(Cluster& provider, std::string max_block);
  void cordon(Cluster& provider, const std::string& node, bool is_cordoned);
  asio::awaitable<void> live();
  void calm_down();

  // Actions of people who evict pods.
  void drain_there();
  void evict_there();
  void evict_at_home();
  void drain_at_home();
  // Other actions, after which pods are not counted any more.
  void scale();
  void delete_pod();
  void change_budget();
  void change_offer();
  void remove_copy();
  // Failures.
  void restart_daemon();
  void kill_at_next_step();
  void break_link();
  void lose_provider();
  void restart_api_server();
  void cut_watches();
  void compact();
  void delay_counts();

  asio::awaitable<void> drain(Cluster* provider, std::string node);
  asio::awaitable<void> drain_local(std::string node);
  asio::awaitable<void> restart(std::string name, bool killed, kube::Duration downtime);
  asio::awaitable<void> outage(std::vector<kube::testing::SimLink*> links, bool refuses, kube::Duration length);
  asio::awaitable<void> count_late(std::size_t controller, kube::Duration length);
  /// Asks a server to evict a pod; false if it does not allow that.
  bool evict(Cluster& cluster, const kube::ObjectKey& pod);
  /// Kills liqod at home a moment after it has written a budget or a copy.
  void see_step(const kube::testing::FakeChange& change);
  std::vector<Tree> remote_pods(Cluster& provider) const;
  std::vector<Tree> pods_on(Cluster& provider, const std::string& node) const;
  Cluster& any_provider();
  std::vector<kube::testing::SimLink*> links();
  /// The links of all processes of home to a provider, or to home's own server for 0; providers count from 1.
  std::vector<kube::testing::SimLink*> links_to(std::size_t place);

  /// Goes on with all drains: each ends when its policy says so.
  void check_drains();
  void check_end();
  /// The first difference from the expected state, "" if there is none.
  std::string find_difference();
  std::string compare_pods();
  std::string compare_copies(Cluster& provider);
  /// Whether the budget at home is to have copies.
  bool is_budget_copied();
  std::vector<std::string> list_writes(kube::TimePoint after);

  kube::testing::Simulator simulator_;
  kube::Random random_;
  bool pairs_, steady_;  ///< two replicas of each liqod; nothing but evictions ends pods
  Cluster home_;
  std::vector<std::unique_ptr<Cluster>> providers_;
  /// Of home, then of the providers.
  std::vector<std::unique_ptr<kube::testing::FakeDisruptionController>> controllers_;
  std::map<std::string, std::unique_ptr<ProcessBox>> daemons_;  ///< by cluster; the second of a pair behind "/b"
  std::unique_ptr<kube::testing::FakeReplicaSet> replicas_;
  std::unique_ptr<EvictionCheck> check_;
  std::map<std::string, Provider> states_;  ///< by provider
  kube::async::TaskGroup group_;
  std::vector<Violation> violations_;
  std::vector<std::string> log_;
  bool is_armed_ = false;  ///< liqod at home is killed at its next step
  bool is_over_ = false;   ///< the schedule has ended
};

}  // namespace liqo::sim
