// The pods that `kubectl debug node/NAME` makes: they look at the files, processes and network of the node that they
// run on, and a virtual node has none.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"
#include "liqo/core/offloading/pod_status.hpp"

namespace liqo::core {

/// Whether kubectl has made the pod for a look at its node. One that leaves the node alone (`--profile=baseline`) is a
/// pod like others.
bool is_node_debugger(const kube::Object& pod);

/// The status of such a pod on a virtual node: it has failed, and its containers have ended, with one sentence.
WantedStatus forge_node_debugger_refusal(const kube::Object& pod, std::string_view provider, kube::WallTime now);

}  // namespace liqo::core
