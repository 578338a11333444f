// Questions that evictions and the counts of PodDisruptionBudgets share. Pure functions.
#pragma once

#include "kube/base/json.hpp"
#include "kube/k8s/resource.hpp"

namespace kube::testing {

inline constexpr Resource disruption_budgets{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"};

/// Whether the budget selects the pod by `matchLabels`; one without a selector selects none.
bool selects(const json::object& budget, const json::object& pod);
/// Whether the condition Ready of the pod is true.
bool is_ready(const json::object& pod);

}  // namespace kube::testing
