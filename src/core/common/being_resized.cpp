#include "core/common/being_resized.hpp"

#include <cstdint>

#include "kube/k8s/condition.hpp"

namespace liqo::core {

bool is_being_resized(const kube::Object& pod) {
  // Kubernetes before 1.34 does not report which generation the kubelet has seen.
  const std::int64_t seen = kube::int_at(pod.status(), {"observedGeneration"});
  if (seen > 0 && seen < pod.generation()) return true;
  return kube::has_condition(pod, "PodResizeInProgress") || kube::has_condition(pod, "PodResizePending");
}

}  // namespace liqo::core
