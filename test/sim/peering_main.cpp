// The simulation of a peering from nothing: handshake, slices, quotas and virtual nodes, one schedule of faults per
// seed.    test_sim_peering [COUNT [FIRST]]
#include "peering_world.hpp"
#include "seeds.hpp"

int main(int count, char** arguments) {
  return liqo::sim::run_seeds(count, arguments, liqo::sim::run_world<liqo::sim::PeeringWorld>);
}
