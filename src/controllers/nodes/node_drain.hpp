// The end of the pods of a Node that is to be removed.
// Tested by test/unit/controllers/nodes/virtual_node_removal_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>
#include <vector>

#include "controllers/common/context.hpp"

namespace liqo::controllers {

/// Cordons the Node of a virtual node and evicts its pods: PodDisruptionBudgets are respected, unless the provider is
/// gone for good. One thread.
class NodeDrain {
 public:
  struct Drained {
    kube::Duration look_again{};          ///< zero: there is no pod left to wait for
    std::vector<kube::Object> leftovers;  ///< pods that go with the Node
  };
  /// `nodes` outlive it.
  NodeDrain(const kube::InformerHandle& nodes, Context context);

  /// `since`: when the removal of the node began. `force`: the provider is gone for good, and the pods with it.
  asio::awaitable<kube::Result<Drained>> drain(const kube::Object& node, std::string_view since, bool force);
  /// Removes the pods that have gone with a Node. Those for which that fails are left to Kubernetes.
  asio::awaitable<void> remove_leftovers(std::vector<kube::Object> pods);

 private:
  const kube::InformerHandle& nodes_;
  Context context_;
};

}  // namespace liqo::controllers
