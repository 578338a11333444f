// One way to set a condition in a list of them, for all kinds that have such lists.
#pragma once

#include <optional>

#include "kube/base/json.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/condition.hpp"

namespace liqo::api {

/// What moves a condition's lastTransitionTime: only a new status, as Kubernetes has it, or a new reason or message
/// too.
enum class TransitionOn { status, anything };

/// The list with this condition set once; duplicates of older writers and entries that are no condition are removed.
/// nullopt if it is so already.
std::optional<kube::json::array> merge_condition(const kube::json::array& live, const kube::Condition& wanted,
                                                 TransitionOn transition, kube::WallTime now);

}  // namespace liqo::api
