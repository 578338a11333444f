// The simulation of PodDisruptionBudgets: drains at home and at providers, evictions that are lent, one schedule of
// faults per seed. A single one is printed.    test_sim_budgets [COUNT [FIRST]]
#include <string_view>

#include "budget_world.hpp"
#include "seeds.hpp"

namespace {

liqo::sim::Outcome run_and_print(std::uint64_t seed) {
  liqo::sim::Outcome outcome{.failed = false, .text = {}};
  auto world = std::make_unique<liqo::sim::BudgetWorld>(seed);
  const auto violations = world->run();
  outcome.failed = !violations.empty();
  for (const std::string& line : world->log()) outcome.text += "  " + line + "\n";
  for (const auto& violation : violations) outcome.text += violation.invariant + ": " + violation.what + "\n";
  if (outcome.failed) (void)world.release();
  return outcome;
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_single = count > 1 && std::string_view(arguments[1]) == "1";
  return liqo::sim::run_seeds(count, arguments,
                              is_single ? run_and_print : liqo::sim::run_world<liqo::sim::BudgetWorld>);
}
