// One way to set a condition in a list of them, for all kinds that have such lists.
#pragma once

#include <optional>
#include <string_view>

#include "kube/base/json.hpp"
#include "kube/base/time.hpp"

namespace liqo::api {

struct WantedCondition {
  std::string_view type, status, reason, message;
};

/// What moves a condition's lastTransitionTime: only a new status, as Kubernetes has it, or a new reason or message
/// too.
enum class TransitionOn { status, anything };

/// The list with this condition set once; duplicates of older writers and entries that are no condition are removed.
/// nullopt if it is so already.
std::optional<kube::json::array> merge_condition(const kube::json::array& live, const WantedCondition& wanted,
                                                 TransitionOn transition, kube::WallTime now);

}  // namespace liqo::api
