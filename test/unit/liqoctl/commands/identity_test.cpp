// liqoctl delete identity.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

TEST_CASE("who names nothing that is there is told how to list") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  const Done done = world.run("delete identity milan", rome);
  CHECK(done.code == 1);
  CHECK(done.err == "ERRO: there is no Identity milan in cluster rome (liqoctl get identity lists what there is)\n");
}

}  // namespace
}  // namespace liqoctl::test
