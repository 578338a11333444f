#include "core/admission/disruption_budget.hpp"

#include <string>

#include "core/offloading/held_evictions.hpp"

namespace liqo::core::admission {

Answer check_disruption_budget(const Request& request, std::string_view consumer, const PodPolicy& policy,
                               bool is_lifted) {
  if (!request.writes()) return Answer::allow();
  const std::string what = known_as(request, "PodDisruptionBudget");
  if (!policy.max_block)
    return Answer::deny(what + " is refused: the policy for cluster " + std::string(consumer) +
                        " has no disruptionBudgets");
  if (!request.subresource.empty()) return Answer::deny(what + " is refused: its status is not a consumer's to write");
  if (is_lifted && request.operation == Operation::create)
    return Answer::deny(what + " is refused: budgets have held the drain of a node for " +
                        std::to_string(policy.max_block->count()) + " s; they hold again once it has ended");
  if (const std::string why = why_no_copy(request.object, consumer); !why.empty())
    return Answer::deny(what + " is refused: " + why);
  return Answer::allow();
}

}  // namespace liqo::core::admission
