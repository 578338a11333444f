// Removes consumers' pods from a Node that is not Ready, so that they can run elsewhere.
// Tested by test/sim/trouble_test.cpp.
#pragma once

#include <set>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Deletes by force the pods of consumers that are being deleted, are past their grace period, and whose node is not
/// Ready: Kubernetes itself keeps them until a person acts. A pod on a node that is only cut off may then run twice, so
/// an operator has to enable this (`--enable-node-failure-controller`). One thread.
class NodeFailureController final : public Runnable {
 public:
  explicit NodeFailureController(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  void enqueue_all();
  void pod_changed(const kube::Change& pod);

  Context context_;
  kube::InformerHandle nodes_, pods_;
  std::set<kube::ObjectKey> ending_;  ///< pods that are being deleted
  kube::Controller controller_;
};

}  // namespace liqo::controllers
