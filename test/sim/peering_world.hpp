// Two clusters that know nothing of each other, a user who peers them, and an operator on either side: from the
// handshake to Quotas and Nodes, and back to nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "fake_signer.hpp"
#include "invariants.hpp"
#include "kube/async/task_group.hpp"
#include "process_box.hpp"

namespace liqo::sim {

/// One schedule of a peering. The seed decides everything. Destroy only after a run without violations: coroutines that
/// hang still use it.
class PeeringWorld {
 public:
  explicit PeeringWorld(std::uint64_t seed);

  /// Runs the schedule and returns what went wrong.
  std::vector<Violation> run();
  /// The log of actions, for a schedule that failed.
  const std::vector<std::string>& log() const { return log_; }

 private:
  using Act = void (PeeringWorld::*)();

  void note(std::string what);
  void break_network();
  /// Takes the next step of `liqoctl peer`, if its turn has come; can be begun again at any time.
  void peer();
  asio::awaitable<void> live();
  asio::awaitable<void> restart(std::string cluster, bool killed, kube::Duration downtime);
  asio::awaitable<void> partition(kube::testing::SimLink* link, kube::Duration length);

  void restart_daemon();
  void break_link();
  void cut_watches();
  void compact();
  void create_slice();
  void edit_slice();
  void delete_slice();
  void mark_slice();
  void set_tenant();
  void delete_quota();
  void delete_virtual_node();
  void delete_credentials();

  void calm_down();
  void check_end();
  void check_certificates();
  void check_history();
  void check_unpeering();
  /// The first difference from the expected state, "" when there is none.
  std::string find_difference();
  std::string compare_slice(const json::object& slice);
  std::string find_leftover();
  std::vector<kube::testing::SimLink*> links();

  kube::testing::Simulator simulator_;
  kube::Random random_;
  Cluster rome_, milan_;
  testing::FakeSigner signer_;
  std::map<std::string, std::unique_ptr<ProcessBox>> daemons_;  ///< by cluster; the second of a pair behind "/b"
  kube::async::TaskGroup group_;
  std::vector<Violation> violations_;
  std::vector<std::string> log_;
  bool short_lived_;  ///< certificates of ten minutes
  int next_slice_ = 0;
};

}  // namespace liqo::sim
