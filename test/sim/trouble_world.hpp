// A consumer and one provider in virtual time, with trouble only when a test makes it.
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
  /// A node without a kubelet: say_that_it_runs() has to report that its pods run.
  static constexpr std::string_view dead_node = "dead-1";
  /// A node whose pods take 40 seconds to end.
  static constexpr std::string_view slow_node = "slow-1";

  explicit TroubleWorld(bool node_failures = false);
  /// Checks the number of requests of both daemons, and ends them.
  ~TroubleWorld();

  void create_pod(std::string_view name, std::int64_t grace = 30);
  /// Creates a pod, and waits until home shows that it runs.
  void run_pod(std::string_view name, std::int64_t grace = 30);
  void delete_pod(std::string_view name);
  /// Reports that the pod runs on the dead node, as the last report of the kubelet there.
  void say_that_it_runs(std::string_view name);
  /// The pod at home, and its Pod in milan; nothing = there is none.
  std::optional<kube::Object> local(std::string_view name) const;
  std::optional<kube::Object> remote(std::string_view name) const;
  std::optional<kube::Object> shadow(std::string_view name) const;
  std::string phase(std::string_view name) const;
  /// Status and reason of a condition, as "False RemotePodMissing"; "" = there is none.
  static std::string condition(const std::optional<kube::Object>& object, std::string_view type);
  std::optional<kube::Object> virtual_node() const;
  /// The number of Events at home with that reason.
  std::size_t events(std::string_view reason) const;
  /// The number of containers of that name that were started in milan.
  std::size_t runs(std::string_view name) const;
  /// The number of writes of rome's liqod to Pods and ShadowPods in milan, successful or not.
  std::size_t writes_in_milan() const;

  /// The link between rome's liqod and milan's API server.
  kube::testing::SimLink& wan();
  /// Lets time pass until the condition holds; false if it does not within the limit.
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
