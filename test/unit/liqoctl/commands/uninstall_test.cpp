// liqoctl uninstall.
#include <doctest/doctest.h>

#include "../installed_cluster.hpp"
#include "model/names/corefile.hpp"

namespace liqoctl::test {
namespace {

TEST_CASE("uninstall that gives up says what holds the namespace up") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  rome.add(resources::namespaces, {"", "liqo"},
           R"({"metadata": {"annotations": {"liqo.io/made-by": "liqoctl"}, "finalizers": ["kubernetes"]},
      "status": {"conditions": [{"type": "NamespaceDeletionDiscoveryFailure", "status": "True",
      "message": "Discovery failed for some groups: metrics.liqo.io/v1beta1"}]}})");
  const Done done = world.run("uninstall --skip-confirm --timeout 4s", rome);
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("gave up waiting for namespace liqo to go"), done.err);
  CHECK_MESSAGE(done.err.contains("Discovery failed for some groups: metrics.liqo.io/v1beta1"), done.err);
}

TEST_CASE("uninstall names all that is in the way") {
  InstalledCluster installed;
  installed.rome.add(kinds::tenants, {"liqo-tenant-turin", "turin"}, R"({"spec": {"clusterID": "turin"}})");
  installed.rome.add(kinds::namespace_offloadings, {"shop", "offloading"});
  const std::uint64_t before = installed.version();
  const Done done = installed.run("uninstall --skip-confirm");
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("NamespaceOffloading shop/offloading (here: liqoctl unoffload namespace shop)"),
                done.err);
  CHECK_MESSAGE(done.err.contains("as provider of turin: Tenant liqo-tenant-turin/turin (the administrator of turin: "
                                  "liqoctl unpeer"),
                done.err);
  CHECK(installed.version() == before);
}

TEST_CASE("uninstall takes out what install has put in") {
  InstalledCluster installed;
  const Done done = installed.run("uninstall --skip-confirm");
  CHECK(done.code == 0);
  CHECK_MESSAGE(done.err.ends_with("INFO: rome: namespace liqo deleted\n"
                                   "INFO: Liqo is removed; its CRDs stay (--purge removes them)\n"),
                done.err);
  CHECK_FALSE(installed.rome.has(kinds::deployments, deployment_of_liqod));
  CHECK(installed.rome.server().list(kinds::cluster_roles).empty());
}

TEST_CASE("uninstall says that CoreDNS keeps the lines of home-names, and leaves them") {
  InstalledCluster installed;
  const kube::ObjectKey coredns{"kube-system", "coredns"};
  const auto corefile = model::with_home_names(".:53 {\n    kubernetes cluster.local\n    reload\n}\n");
  REQUIRE(corefile.has_value());
  const kube::json::object lines{{"Corefile", corefile->text}};
  installed.rome.add(resources::config_maps, coredns, kube::json::serialize(kube::json::object{{"data", lines}}));
  const Done done = installed.run("uninstall --skip-confirm");
  CHECK(done.code == 0);
  CHECK_MESSAGE(done.err.contains("rome: CoreDNS keeps the lines of home-names (ConfigMap kube-system/coredns): "
                                  "\"liqoctl enable home-names --undo\" takes them out\n"),
                done.err);
  CHECK(kube::string_at(installed.rome.get(resources::config_maps, coredns).tree(), {"data", "Corefile"}) ==
        corefile->text);
}

}  // namespace
}  // namespace liqoctl::test
