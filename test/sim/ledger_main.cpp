// The simulation of the quota ledger: two replicas, consumers that ask for more than there is, one schedule of faults
// per seed.    test_sim_ledger [COUNT [FIRST]]
#include "ledger_world.hpp"
#include "seeds.hpp"

namespace {

liqo::sim::Outcome run_seed(std::uint64_t seed) {
  // The coroutines of a schedule that hangs still use the world, so it is not destroyed.
  auto world = std::make_unique<liqo::sim::LedgerWorld>(seed);
  const auto violations = world->run();
  liqo::sim::Outcome outcome{.failed = !violations.empty(), .text = {}};
  for (const auto& violation : violations)
    outcome.text += "seed " + std::to_string(seed) + ": " + violation.invariant + ": " + violation.what + "\n";
  // If the Quota was withdrawn early, every pod may have been refused.
  const bool had_room = world->admitted() > 0 || world->was_withdrawn();
  if (!had_room) outcome.text += "seed " + std::to_string(seed) + ": nothing was admitted\n";
  outcome.failed |= !had_room;
  if (outcome.failed) (void)world.release();
  return outcome;
}

}  // namespace

int main(int count, char** arguments) { return liqo::sim::run_seeds(count, arguments, run_seed); }
