// The drains of this cluster, a provider, and the PodDisruptionBudgets of consumers that hold them.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/offloading/disruption_budget.hpp"

namespace liqo::core {

/// Since when the node has been cordoned, by the taint that Kubernetes gives it; `seen_at` if that has no time.
/// Nothing: it is not cordoned.
std::optional<kube::WallTime> cordoned_since(const kube::Object& node, kube::WallTime seen_at);

/// The cordoned nodes of this cluster, and since when.
using CordonedNodes = std::map<std::string, kube::WallTime, std::less<>>;

/// A twin whose pods are on cordoned nodes.
struct HeldTwin {
  PodNames there;                     ///< all of these pods
  PodNames wanted;                    ///< ready ones: to be evicted
  PodNames late;                      ///< those on nodes that have been cordoned for too long
  std::string node;                   ///< one of the nodes, that of a late pod if there is one
  std::optional<kube::WallTime> due;  ///< when a pod becomes late
};

/// Finds the pods of a twin that are to be evicted. Pods that are being deleted or have finished do not count.
HeldTwin find_held(const std::vector<kube::Object>& pods, const CordonedNodes& cordoned, std::chrono::seconds max_block,
                   kube::WallTime now);

/// The value of `api::annotations::evictions_wanted` for pods of the twin that the copy selects, at most 32 of them.
std::string wanted_by(const kube::Object& copy, const std::vector<kube::Object>& pods, const PodNames& wanted);
/// The merge patch with which the copy says so; nothing if it does. If no pods are wanted any more, the copy also keeps
/// all pods of the twin that it selects: evictions that home has lent end even if liqod of home is away.
std::optional<kube::json::object> wanted_patch(const kube::Object& copy, const std::vector<kube::Object>& pods,
                                               const PodNames& wanted);
/// Those of the pods with these names that several copies select: API servers never evict such a pod.
PodNames contested(const std::vector<kube::Object>& copies, const std::vector<kube::Object>& pods,
                   const PodNames& names);
/// Whether the copy selects one of the pods with these names.
bool holds_one(const kube::Object& copy, const std::vector<kube::Object>& pods, const PodNames& names);

/// Why a budget in a twin of that consumer is none that holds for a bounded time; "" if it is one. What would outlive
/// its removal, or block evictions of unhealthy pods, is none.
std::string why_no_copy(const kube::Object& copy, std::string_view consumer);

}  // namespace liqo::core
