// Pods that were created before their namespace was offloaded, so that admission did not change them.
#pragma once

#include <cstddef>
#include <string>

#include "kube/k8s/object.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::core {

/// What becomes of one of them.
struct EarlierPod {
  enum class Fate {
    as_wanted,   ///< the NamespaceOffloading asks for no change, or the pod has ended
    adjustable,  ///< it has no node yet, and `patch` changes it as admission would have
    waits,       ///< it has no node yet, and Kubernetes allows no change of where it may go
    placed,      ///< it is bound to a node that the strategy would not have chosen, and stays there
  };
  Fate fate = Fate::as_wanted;
  kube::json::array patch;  ///< JSON patch with the pod's UID as precondition, where it is adjustable
};

/// Kubernetes lets tolerations be added to any pod. The required node affinity can be tightened only while a pod has a
/// scheduling gate, and not in every form: the API server may refuse such a patch (422).
EarlierPod plan_earlier_pod(const kube::Object& pod, const api::NamespaceOffloading& offloading);

/// How many earlier pods the strategy does not reach.
struct EarlierPods {
  std::size_t placed = 0, waiting = 0;
};
/// The sentence of an Event that tells the owner of the namespace about them and what to do; "" = no Event.
std::string describe_earlier_pods(const EarlierPods& pods, api::PodOffloadingStrategy strategy);

}  // namespace liqo::core
