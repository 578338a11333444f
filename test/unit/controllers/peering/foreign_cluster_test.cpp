// The end of a ForeignCluster; the tests of core cover its status, and the simulation of peerings its life.
#include "../adds.hpp"
#include "kube/testing/tree.hpp"
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

TEST_CASE("a grant and a heartbeat of a virtual node have no ForeignCluster looked at, and its readiness has") {
  using namespace std::chrono_literals;
  namespace kinds = api::kinds;
  ClusterFixture rome("rome");
  const kube::ObjectKey key{"liqo-tenant-milan", "milan"}, node_key{"", "milan"};
  kube::Object virtual_node = kube::Object::make(kinds::virtual_nodes, key);
  virtual_node.mutable_spec() = json::object{{"clusterID", "milan"}};
  rome.apply(kinds::virtual_nodes, virtual_node);
  // Without credentials none is made; one that was there before is kept.
  kube::Object node = kube::Object::make(kube::resources::nodes, node_key);
  node.set_label(api::labels::type, api::labels::type_virtual_node);
  node.set_label(api::labels::remote_cluster_id, "milan");
  rome.apply(kube::resources::nodes, node);
  rome.start();
  const auto ready = [&] {
    const auto peer = rome.find(kinds::foreign_clusters, {"", "milan"});
    if (!peer) return std::string();
    for (const json::value& one : kube::array_at(peer->status(), {"modules", "offloading", "conditions"}))
      if (kube::string_at(one, {"type"}) == "OffloadingNodeStatus")
        return std::string(kube::string_at(one, {"status"}));
    return std::string();
  };
  CHECK(rome.reaches([&] { return ready() == "NotReady"; }));
  rome.pass(30s);
  const auto looked = [&] { return adds(rome.metrics(), "foreigncluster"); };
  const double before = looked();
  for (int i = 1; i <= 5; ++i) {
    rome.change(kinds::virtual_nodes, key, "", [&](json::object& next) {
      kube::testing::ensure_path(next, {"spec", "resourceQuota"})["hard"] = json::object{{"cpu", std::to_string(i)}};
    });
    rome.change(kube::resources::nodes, node_key, "", [&](json::object& next) {
      kube::testing::set_annotation(next, "example.com/beat", std::to_string(i));
    });
    rome.pass(1s);
  }
  CHECK(looked() == before);
  rome.change(kinds::virtual_nodes, key, "",
              [](json::object& next) { kube::ensure_object(next, "spec")["createNode"] = false; });
  // No Node is expected, and none is there.
  CHECK(rome.reaches([&] { return ready() == "Ready"; }));
  CHECK(looked() > before);
  rome.stop();
}

}  // namespace liqo::testing
