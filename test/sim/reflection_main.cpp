// The simulation of reflection: every kind, two virtual nodes of one provider, strangers at the providers, one schedule
// of faults per seed.    test_sim_reflection [COUNT [FIRST]]
#include "reflection_world.hpp"
#include "seeds.hpp"

namespace {

liqo::sim::Outcome run_seed(std::uint64_t seed) {
  // A schedule that hangs leaves coroutines behind that use the world; then it is left to the end of the process.
  auto world = std::make_unique<liqo::sim::ReflectionWorld>(seed);
  const auto violations = world->run();
  liqo::sim::Outcome outcome{.failed = !violations.empty(), .text = {}};
  if (outcome.failed)
    for (const std::string& line : world->log()) outcome.text += "  " + line + "\n";
  for (const auto& violation : violations)
    outcome.text += "seed " + std::to_string(seed) + ": " + violation.invariant + ": " + violation.what + "\n";
  if (outcome.failed) (void)world.release();
  return outcome;
}

}  // namespace

int main(int count, char** arguments) { return liqo::sim::run_seeds(count, arguments, run_seed); }
