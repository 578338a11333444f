// The heartbeats of virtual nodes.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {

using namespace std::chrono_literals;

namespace {

/// Virtual node `name` and its Node.
void add_node(ClusterFixture& rome, const std::string& name) {
  kube::Object virtual_node = kube::Object::make(api::kinds::virtual_nodes, {"liqo-tenant-milan", name});
  virtual_node.mutable_spec()["clusterID"] = "milan";
  rome.apply(api::kinds::virtual_nodes, virtual_node);
  kube::Object node = kube::Object::make(kube::resources::nodes, {"", name});
  node.set_label(api::labels::type, api::labels::type_virtual_node);
  rome.apply(kube::resources::nodes, node);
}

}  // namespace

TEST_CASE("many nodes are kept alive over a slow connection") {
  namespace resources = kube::resources;
  constexpr int count = 100;
  ClusterFixture rome("rome");
  for (int i = 0; i < count; ++i) add_node(rome, "milan-" + std::to_string(i));
  // One after the other they would take longer than a node may be silent.
  rome.link.set_faults({.slow = 1, .slow_by = 1s});
  rome.start();
  rome.pass(1min);
  for (int look = 0; look < 10; ++look) {
    rome.pass(5s);
    const auto leases = rome.server.list(resources::leases);
    CHECK(leases.size() == count);
    int late = 0;
    for (const auto& lease : leases) {
      const auto renewed = kube::parse_time(kube::string_at(*lease, {"spec", "renewTime"}));
      late += !renewed || rome.simulator.clock().wall() - *renewed > 30s;
    }
    CHECK(late == 0);
  }
  rome.stop();
}

TEST_CASE("a machine that takes the name of a virtual node is not kept alive when it dies") {
  ClusterFixture rome("rome");
  add_node(rome, "milan");
  rome.start();
  const auto renewed = [&] {
    const auto lease = rome.find(kube::resources::leases, {"kube-node-lease", "milan"});
    return lease ? std::string(kube::string_at(lease->spec(), {"renewTime"})) : "";
  };
  REQUIRE(rome.reaches([&] { return !renewed().empty(); }));
  rome.change(kube::resources::nodes, {"", "milan"}, "status",
              [](json::object& next) { kube::testing::ensure_path(next, {"status", "nodeInfo"})["machineID"] = "a1"; });
  rome.pass(1s);
  const std::string last = renewed();
  rome.pass(1min);
  CHECK(renewed() == last);
  rome.stop();
}

}  // namespace liqo::testing
