// The pods that `kubectl debug node/NAME` creates. They look at the files, processes and network of their node, and a
// virtual node has none.
#pragma once

#include <string_view>

#include "core/offloading/pod_status.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether kubectl created the pod to debug its node. A pod that does not use the node itself (`--profile=baseline`) is
/// a pod like others.
bool is_node_debugger(const kube::Object& pod);

/// The status of such a pod on a virtual node: it has failed and its containers have ended, with a sentence that says
/// why.
WantedStatus forge_node_debugger_refusal(const kube::Object& pod, std::string_view provider, kube::WallTime now);

}  // namespace liqo::core
