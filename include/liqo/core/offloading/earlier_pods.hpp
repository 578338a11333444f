// Pods that were created before their namespace was extended, and which admission has therefore let through unchanged.
#pragma once

#include <cstddef>
#include <string>

#include "kube/k8s/object.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::core {

/// What becomes of one of them.
struct EarlierPod {
  enum class Fate {
    as_wanted,   ///< the NamespaceOffloading asks nothing of it, or it is over
    adjustable,  ///< it has no node yet, and `patch` makes it what admission would have made of it
    waits,       ///< it has no node yet, and Kubernetes lets nobody change where it may go
    placed,      ///< it is bound to a node, where it stays, and the strategy would have chosen another one
  };
  Fate fate = Fate::as_wanted;
  kube::json::array patch;  ///< JSON patch with the pod's UID as precondition, where it is adjustable
};

/// Decides. Kubernetes takes tolerations that are added to any pod; the required node affinity can be tightened only
/// while a pod has a scheduling gate, and not in every form: the API server may refuse such a patch (422).
EarlierPod plan_earlier_pod(const kube::Object& pod, const api::NamespaceOffloading& offloading);

/// How many of them the strategy does not reach.
struct EarlierPods {
  std::size_t placed = 0, waiting = 0;
};
/// What their owner is to know and can do, for an Event; "" = nothing.
std::string describe_earlier_pods(const EarlierPods& pods, api::PodOffloadingStrategy strategy);

}  // namespace liqo::core
