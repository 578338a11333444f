// Pods that were created before their namespace was offloaded, so that admission did not change them.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "kube/k8s/object.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::core {

namespace earlier_pod_action {
/// The NamespaceOffloading asks for no change, or the pod has ended.
struct Keep {};
/// The pod has no node yet: change it as admission would have.
struct Patch {
  kube::json::array steps;  ///< JSON patch with the pod's UID as precondition
};
/// The pod has no node yet, and Kubernetes allows no change of where it may go.
struct LeaveWaiting {};
/// The pod is bound to a node that the strategy would not have chosen, and stays there.
struct LeavePlaced {};
}  // namespace earlier_pod_action

/// What to do about one of them.
using EarlierPodPlan = std::variant<earlier_pod_action::Keep, earlier_pod_action::Patch,
                                    earlier_pod_action::LeaveWaiting, earlier_pod_action::LeavePlaced>;

/// The plan for a pod that was created before its namespace was offloaded. Kubernetes lets tolerations be added to any
/// pod. The required node affinity can be tightened only while a pod has a scheduling gate, and not in every form: the
/// API server may refuse such a patch (422).
EarlierPodPlan plan_earlier_pod(const kube::Object& pod, const api::NamespaceOffloading& offloading);

/// How many earlier pods the strategy does not reach.
struct EarlierPods {
  std::size_t placed = 0, waiting = 0;
};
/// The sentence of an Event that tells the owner of the namespace about them and what to do; "" = no Event.
std::string describe_earlier_pods(const EarlierPods& pods, api::PodOffloadingStrategy strategy);

}  // namespace liqo::core
