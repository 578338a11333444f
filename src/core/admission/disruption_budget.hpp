// The rule for PodDisruptionBudgets of consumers, which could hold the drains of nodes.
#pragma once

#include <string_view>

#include "core/admission/review.hpp"
#include "core/policy/pod_policy.hpp"

namespace liqo::core::admission {

/// Rule for a PodDisruptionBudget that the consumer writes into one of its twins. It is refused without
/// `disruptionBudgets` in the policy, and with other fields than those of copies (`why_no_copy`). A new one is refused
/// while budgets of the twin have held a drain for as long as they may (`is_lifted`). The number of budgets is bounded
/// by the ResourceQuota of the twin.
Answer check_disruption_budget(const Request& request, std::string_view consumer, const PodPolicy& policy,
                               bool is_lifted);

}  // namespace liqo::core::admission
