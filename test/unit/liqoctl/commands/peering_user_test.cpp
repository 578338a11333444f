// liqoctl generate peering-user.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

TEST_CASE("who waits for what Kubernetes does is not told of liqod") {
  CommandWorld world;
  TestCluster milan(world, "milan");
  milan.add_tenant_namespace("rome");
  stop_liqod(milan);
  const Done done = world.run("generate peering-user --consumer-cluster-id rome --timeout 4s", milan);
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("gave up waiting for the certificate"), done.err);
  CHECK_MESSAGE(done.err.contains("has not signed"), done.err);
  CHECK_FALSE(done.err.contains("liqod"));
}

TEST_CASE("nobody peers with itself") {
  CommandWorld world;
  TestCluster milan(world, "milan");
  const Done done = world.run("generate peering-user --consumer-cluster-id milan", milan);
  CHECK(done.code == 1);
  CHECK(done.err == "ERRO: milan is this cluster: give the ID of the one that is to consume here\n");
  CHECK(milan.writes() == 0);
}

}  // namespace
}  // namespace liqoctl::test
