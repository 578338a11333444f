// The conditions of a VirtualNode.
// Tested by test/unit/controllers/nodes/namesakes_test.cpp.
#pragma once

#include "controllers/common/context.hpp"
#include "kube/k8s/condition.hpp"
#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

/// Sets a condition of the VirtualNode as `virtual_nodes` has it now, unless it is so already or the object is gone.
/// The objects that `context` and `condition` refer to outlive the call.
asio::awaitable<kube::Result<void>> set_virtual_node_condition(const Context& context, kube::Informer& virtual_nodes,
                                                               kube::ObjectKey key, kube::Condition condition);

}  // namespace liqo::controllers
