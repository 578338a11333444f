// The simulation of quotas: two replicas, consumers that ask for more than there is, one schedule of faults per seed,
// of one Quota's ledger and of the grants to a consumer as a whole.    test_sim_ledger [COUNT [FIRST]]
#include "grant_world.hpp"
#include "ledger_world.hpp"
#include "seeds.hpp"

namespace {

template <class World>
void run_world(std::uint64_t seed, liqo::sim::Outcome& outcome, bool (*is_idle)(const World&)) {
  const std::string of_seed = "seed " + std::to_string(seed) + ": ";
  // The coroutines of a schedule that hangs still use the world, so it is not destroyed.
  auto world = std::make_unique<World>(seed);
  const auto violations = world->run();
  bool failed = !violations.empty();
  for (const auto& violation : violations) outcome.text += of_seed + violation.invariant + ": " + violation.what + "\n";
  if (is_idle(*world)) {
    outcome.text += of_seed + "nothing was admitted\n";
    failed = true;
  }
  if (failed) (void)world.release();
  outcome.failed = outcome.failed || failed;
}

liqo::sim::Outcome run_seed(std::uint64_t seed) {
  liqo::sim::Outcome outcome{.failed = false, .text = {}};
  // If the Quota was withdrawn early, every pod may have been refused.
  run_world<liqo::sim::LedgerWorld>(seed, outcome,
                                    [](const auto& world) { return world.admitted() == 0 && !world.was_withdrawn(); });
  run_world<liqo::sim::GrantWorld>(seed, outcome, [](const auto& world) { return world.granted() == 0; });
  return outcome;
}

}  // namespace

int main(int count, char** arguments) { return liqo::sim::run_seeds(count, arguments, run_seed); }
