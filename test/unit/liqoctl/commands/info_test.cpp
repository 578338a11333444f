// liqoctl info.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

TEST_CASE("info shows a consumer whose policy cannot be read") {
  CommandWorld world;
  TestCluster milan(world, "milan");
  add_consumer_rome(milan);
  add_peer(milan, "rome");
  milan.change(resources::namespaces, {"", tenant_of_rome.ns},
               R"({"metadata": {"annotations": {"liqo.io/pod-policy": "{\"maxResorces\": {}}"}}})");
  const Done told = world.run("info", milan);
  CHECK_MESSAGE(told.out.contains("!  its policy cannot be read ("), told.out);
}

TEST_CASE("info shows the cluster, a part of it, and says what could not be read") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  CHECK(world.run("info --get clusterid", rome).out == "rome\n");
  const kube::json::value document = parsed(world.run("info -o json", rome).out);
  CHECK(kube::string_at(document, {"local", "clusterID"}) == "rome");
  rome.forbidden.insert(kinds::tenants.path(""));
  const Done some = world.run("info", rome);
  CHECK(some.code == 1);
  CHECK_MESSAGE(some.err.contains("not everything could be read: "), some.err);
  CHECK_MESSAGE(some.err.contains("Tenants"), some.err);
}

TEST_CASE("info shows peers, and names them to who asks for a stranger") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  CHECK(world.run("info peer", rome).err == "INFO: there are no peers yet (liqoctl peer)\n");
  add_credentials_at_milan(rome);
  silence_milan(rome);
  const Done stranger = world.run("info peer turin", rome);
  CHECK(stranger.code == 1);
  CHECK(stranger.err == "ERRO: turin is not a peer: the peers are milan\n");
  const Done shown = world.run("info peer milan", rome);
  CHECK(shown.code == 0);
  CHECK_MESSAGE(shown.out.contains("milan"), shown.err);
}

}  // namespace
}  // namespace liqoctl::test
