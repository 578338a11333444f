// liqoctl generate tenant and create tenant.
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

TEST_CASE("what is handed over is read from standard input, and has to be a Tenant") {
  CommandWorld world;
  TestCluster milan(world, "milan");
  world.typed = "kind: Identity\n";
  const Done other = world.run("create tenant -f -", milan);
  CHECK(other.code == 1);
  CHECK(other.err == "ERRO: - has no Tenant\n");
  world.typed =
      "apiVersion: authentication.liqo.io/v1beta1\nkind: Tenant\nmetadata: {name: rome}\nspec: {clusterID: Rome!}\n";
  const Done nobody = world.run("create tenant -f -", milan);
  CHECK(nobody.code == 1);
  CHECK(nobody.err == "ERRO: -: the Tenant is of no cluster: its spec.clusterID is no cluster ID\n");
  CHECK(milan.writes() == 0);
}

}  // namespace
}  // namespace liqoctl::test
