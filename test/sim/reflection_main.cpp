// The simulation of reflection: every kind, two virtual nodes of one provider, strangers at the providers, one schedule
// of faults per seed.    test_sim_reflection [COUNT [FIRST]]
#include "reflection_world.hpp"
#include "seeds.hpp"

int main(int count, char** arguments) {
  return liqo::sim::run_seeds(count, arguments, liqo::sim::run_world<liqo::sim::ReflectionWorld>);
}
