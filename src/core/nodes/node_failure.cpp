#include "core/nodes/node_failure.hpp"

#include <algorithm>

#include "kube/k8s/condition.hpp"

namespace liqo::core {
std::optional<kube::Duration> force_delete_in(const kube::Object& pod, const kube::Object* node, kube::WallTime now) {
  if (!pod.is_deleting() || !node || kube::has_condition(*node, "Ready")) return std::nullopt;
  if (kube::int_at(pod.metadata(), {"deletionGracePeriodSeconds"}, 1) == 0) return std::nullopt;
  // deletionTimestamp is the time at which the pod is to be gone, not that of the delete.
  const auto end = kube::parse_time(kube::string_at(pod.metadata(), {"deletionTimestamp"}));
  if (!end) return std::nullopt;
  return std::max(std::chrono::duration_cast<kube::Duration>(*end - now), kube::Duration::zero());
}

}  // namespace liqo::core
