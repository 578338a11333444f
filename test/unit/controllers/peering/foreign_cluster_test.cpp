// The end of a ForeignCluster; its status is held by the tests of core, and its life by the simulation of peerings.
#include "peering_fixture.hpp"

namespace liqo::testing {

TEST_CASE("a ForeignCluster goes with the last object of its peer, also where the network's kinds are not installed") {
  PeeringProvider milan;
  milan.start();
  milan.admit();
  const kube::ObjectKey peer{"", "rome"};
  REQUIRE(milan.reaches([&] { return milan.has(api::kinds::foreign_clusters, peer); }));
  static_cast<void>(milan.server.remove(api::kinds::tenants, milan.tenant_key, {}, "operator"));
  CHECK(milan.reaches([&] { return !milan.has(api::kinds::foreign_clusters, peer); }));
}

}  // namespace liqo::testing
