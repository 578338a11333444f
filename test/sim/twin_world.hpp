// A twin that its provider makes anew, and a controller there that writes copies as well: whose they are in the end.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "core/reflection/kind.hpp"
#include "invariants.hpp"
#include "kube/async/task_group.hpp"
#include "process_box.hpp"
#include "replication.hpp"

namespace liqo::sim {

/// One schedule of the copies in one twin. The seed decides everything. Destroy only after a run without violations:
/// coroutines that hang still use it.
class TwinWorld {
 public:
  explicit TwinWorld(std::uint64_t seed);

  /// Runs the schedule and returns what went wrong.
  std::vector<Violation> run();
  /// The log of actions, for a schedule that failed.
  const std::vector<std::string>& log() const { return log_; }

 private:
  using Act = void (TwinWorld::*)();

  void note(std::string what);
  void set_up();
  asio::awaitable<void> live();
  void calm_down();

  // Actions.
  void change_object();
  void replace_twin();
  void begin_contest();
  void end_contest();
  void restart_daemon();
  void break_link();
  void cut_watches();
  void compact();

  asio::awaitable<void> restart(std::string name, bool killed, kube::Duration downtime);
  asio::awaitable<void> outage(kube::testing::SimLink* link, kube::Duration length);
  /// Deletes the twin as Kubernetes does: first what is in it, which takes a while.
  asio::awaitable<void> delete_twin();
  /// Refuses what a provider refuses of a consumer: objects in no Namespace, or in one that ends, and other owners.
  std::optional<kube::testing::Refusal> review(const kube::testing::FakeReview& asked);
  /// Has the rival overwrite a copy that it wants otherwise.
  void see_copy(const kube::testing::FakeChange& change);
  void overwrite(const core::reflection::ReflectedKind& kind, const kube::ObjectKey& key);
  /// Checks the owners that a write has added, and that none is collected.
  void check_owners(const kube::testing::FakeChange& change);
  std::string twin_uid();
  std::vector<kube::testing::SimLink*> links();

  void check_end();
  /// Waits until nothing differs; false if something still does after so long.
  bool converges(kube::Duration patience);
  void check_quiet();
  /// The first difference from the expected state, "" if there is none.
  std::string find_difference();
  std::string compare(const core::reflection::ReflectedKind& kind, const kube::Object& local);
  std::vector<std::string> list_writes(kube::TimePoint after);

  kube::testing::Simulator simulator_;
  kube::Random random_;
  bool pairs_, replicates_;  ///< two replicas at home; the state of the twin comes home
  Cluster home_, milan_;
  FakeGrants grants_;
  std::map<std::string, std::unique_ptr<ProcessBox>> daemons_;
  std::set<std::string> contested_;  ///< "KIND NAME" of copies that the rival overwrites
  std::set<std::string> left_;       ///< of those that it has left alone since
  kube::async::TaskGroup group_;
  std::vector<Violation> violations_;
  std::vector<std::string> log_;
  bool is_ending_ = false;     ///< the twin is being deleted
  bool was_replaced_ = false;  ///< it was deleted in this schedule
  int next_value_ = 0;
};

}  // namespace liqo::sim
