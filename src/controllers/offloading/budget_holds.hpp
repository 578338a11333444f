// Bounds how long the PodDisruptionBudgets of consumers hold the drains of this cluster's nodes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "controllers/offloading/twin_consumers.hpp"
#include "core/offloading/held_evictions.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Says on each copy which of its pods are on cordoned nodes, so that their home lends evictions of them. Removes the
/// copies that select a pod on a node that has been cordoned for longer than the policy's `maxBlock`, and those that
/// select the same pod on a cordoned node, with Events on the node and the twin. A mark on the twin keeps admission
/// from letting others in until no pod of it is on a cordoned node. Removes all copies of consumers whose policy has no
/// `disruptionBudgets`, and budgets that admission would refuse. One thread.
class BudgetHolds final : public Runnable {
 public:
  explicit BudgetHolds(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  /// Without the right to read budgets there is nothing to wait for: consumers have none here, either.
  bool has_synced() const override;
  bool is_busy() const override { return controller_.has_synced() && controller_.is_busy(); }

 private:
  void fill();
  void enqueue(const std::string& twin) { controller_.enqueue({twin, {"", twin}}); }
  /// Looks at all twins with copies, or with the mark.
  void enqueue_all();
  /// Whether the namespace has budgets, or the mark.
  bool is_concerned(const std::string& twin) const;
  void see_namespace(const kube::Change& ns);
  void see_node(const kube::Change& node);
  void see_pod(const kube::Change& pod);
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  asio::awaitable<kube::Result<void>> remove(kube::Object copy);
  /// Sets or removes the mark on a twin.
  asio::awaitable<kube::Result<void>> mark(kube::Object twin, bool is_lifted);
  void report_lifted(const kube::Object& twin, const std::string& node, const std::string& why);

  Context context_;
  kube::InformerHandle budgets_, machines_, virtual_nodes_, pods_, namespaces_;
  TwinConsumers consumers_;
  core::CordonedNodes cordoned_;
  kube::Controller controller_;
  kube::Log log_{"budget-holds"};
};

}  // namespace liqo::controllers
