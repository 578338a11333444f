// liqoctl generate tenant and set tenant.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

TEST_CASE("a nonce that was cut is told at once") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  const Done done = world.run("generate tenant --remote-cluster-id milan --nonce TQ==", rome);
  CHECK(done.code == 2);
  CHECK_MESSAGE(done.err.contains("--nonce"), done.err);
  CHECK_MESSAGE(done.err.contains("has 88 characters of base64"), done.err);
  CHECK(rome.asked.empty());
}

}  // namespace
}  // namespace liqoctl::test
