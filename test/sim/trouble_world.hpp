// A consumer and one provider in virtual time, to whom trouble comes when a test says so.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cluster.hpp"
#include "process_box.hpp"
#include "replication.hpp"

namespace liqo::sim {

/// Rome, whose namespace "shop" has its twin in milan; both daemons are started. The network is perfect, and nothing
/// happens by itself. Pods at home are created on the virtual node; those in milan get the node `worker`.
class TroubleWorld {
 public:
  /// A node without a kubelet: somebody else has to say that its pods run.
  static constexpr std::string_view dead_node = "dead-1";
  /// Pods of this one take 40 seconds to end.
  static constexpr std::string_view slow_node = "slow-1";

  explicit TroubleWorld(bool node_failures = false);
  /// Holds the requests of both daemons against what happened, and ends them.
  ~TroubleWorld();

  void create_pod(std::string_view name, std::int64_t grace = 30);
  /// Creates it and waits until home shows that it runs.
  void run_pod(std::string_view name, std::int64_t grace = 30);
  void delete_pod(std::string_view name);
  /// The pod runs on the dead node: what its kubelet said last.
  void say_that_it_runs(std::string_view name);
  /// The pod at home, and its Pod in milan; null = there is none.
  std::optional<kube::Object> local(std::string_view name) const;
  std::optional<kube::Object> remote(std::string_view name) const;
  std::optional<kube::Object> shadow(std::string_view name) const;
  std::string phase(std::string_view name) const;
  /// Status and reason of a condition, as "False RemotePodMissing"; "" = there is none.
  static std::string condition(const std::optional<kube::Object>& object, std::string_view type);
  std::optional<kube::Object> virtual_node() const;
  /// How many Events at home have that reason.
  std::size_t events(std::string_view reason) const;
  /// Containers of that name that were started in milan.
  std::size_t runs(std::string_view name) const;
  /// What rome's liqod has written to Pods and ShadowPods in milan, successful or not.
  std::size_t writes_in_milan() const;

  /// What rome's liqod and milan's API server say to each other.
  kube::testing::SimLink& wan();
  /// Lets time pass until it holds; false where it does not by then.
  bool reaches(const std::function<bool()>& holds, kube::Duration limit);
  void pass(kube::Duration time) { static_cast<void>(simulator.run_for(time)); }
  kube::TimePoint now() const { return simulator.clock().now(); }

  mutable kube::testing::Simulator simulator{7};
  mutable Cluster rome, milan;
  std::string worker = "worker-1";
  ProcessBox at_milan, at_rome;

 private:
  void place(const kube::testing::FakeChange& change);

  kube::testing::FakeKubelet slow_kubelet_;
  FakeGrants grants_;
};

}  // namespace liqo::sim
