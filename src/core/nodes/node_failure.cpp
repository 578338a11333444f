#include "liqo/core/nodes/node_failure.hpp"

#include <algorithm>

#include "core/conditions.hpp"

namespace liqo::core {
namespace {

bool is_ready(const kube::Object& node) {
  const kube::json::object* condition = find_condition(node.status(), "Ready");
  return condition && kube::string_at(*condition, {"status"}) == "True";
}

}  // namespace

std::optional<kube::Duration> force_delete_in(const kube::Object& pod, const kube::Object* node, kube::WallTime now) {
  if (!pod.is_deleting() || !node || is_ready(*node)) return std::nullopt;
  if (kube::int_at(pod.metadata(), {"deletionGracePeriodSeconds"}, 1) == 0) return std::nullopt;
  // deletionTimestamp is the time at which the pod is to be gone, not that of the delete.
  const auto end = kube::parse_time(kube::string_at(pod.metadata(), {"deletionTimestamp"}));
  if (!end) return std::nullopt;
  return std::max(std::chrono::duration_cast<kube::Duration>(*end - now), kube::Duration::zero());
}

}  // namespace liqo::core
