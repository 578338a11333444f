// The simulation of reflection: every kind, two virtual nodes of one provider, strangers at the providers, one schedule
// of faults per seed. One in eight also runs that of a twin which is made anew, and of copies that others overwrite.
//     test_sim_reflection [COUNT [FIRST]]
#include "reflection_world.hpp"
#include "seeds.hpp"
#include "twin_world.hpp"

namespace {

constexpr std::uint64_t schedules_per_twin = 8;

liqo::sim::Outcome run_seed(std::uint64_t seed) {
  auto outcome = liqo::sim::run_world<liqo::sim::ReflectionWorld>(seed);
  if (seed % schedules_per_twin != 0) return outcome;
  const auto of_twin = liqo::sim::run_world<liqo::sim::TwinWorld>(seed);
  outcome.failed = outcome.failed || of_twin.failed;
  outcome.text += of_twin.text;
  return outcome;
}

}  // namespace

int main(int count, char** arguments) { return liqo::sim::run_seeds(count, arguments, run_seed); }
