// liqoctl unpeer.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"
#include "core/common/peer_names.hpp"

namespace liqoctl::test {
namespace {

struct Clusters {
  CommandWorld world;
  TestCluster rome{world, "rome"};
  TestCluster milan{world, "milan"};

  Done unpeer(const std::string& flags = {}) { return world.run("unpeer" + flags, rome, milan); }
};

TEST_CASE("unpeer takes the credentials and the namespaces that liqoctl made") {
  Clusters clusters;
  TestCluster &rome = clusters.rome, &milan = clusters.milan;
  const kube::ObjectKey identity{pool.ns, liqo::core::control_plane_identity_name("milan")};
  const kube::ObjectKey secret{pool.ns, "kubeconfig-controlplane-milan"};
  constexpr const char* made_by_liqoctl = R"({"metadata": {"annotations": {"liqo.io/made-by": "liqoctl"}}})";
  add_credentials_at_milan(rome);
  rome.add(kinds::identities, identity);
  rome.change(resources::namespaces, {"", pool.ns}, made_by_liqoctl);
  add_consumer_rome(milan);
  milan.change(resources::namespaces, {"", tenant_of_rome.ns}, made_by_liqoctl);
  // liqod withdraws the credentials once their Identity has gone.
  rome.before_reading = [&](std::string_view path) {
    if (path == resources::secrets.path(pool.ns) && !rome.has(kinds::identities, identity) &&
        rome.has(resources::secrets, secret))
      rome.remove(resources::secrets, secret);
  };
  const Done done = clusters.unpeer();
  CHECK(done.code == 0);
  CHECK(done.err == "INFO: rome: Identity " + identity.name +
                        " deleted\n"
                        "INFO: milan: Tenant rome deleted\n"
                        "INFO: rome: tenant namespace liqo-tenant-milan deleted\n"
                        "INFO: milan: tenant namespace liqo-tenant-rome deleted\n"
                        "INFO: rome is no longer peered with milan\n");
  CHECK_FALSE(rome.has(resources::namespaces, {"", pool.ns}));
  CHECK_FALSE(milan.has(kinds::tenants, tenant_of_rome));
}

TEST_CASE("unpeer asks also whom it cannot name the pods") {
  Clusters clusters;
  const std::string ns = clusters.rome.add_tenant_namespace("milan");
  clusters.rome.add(kinds::virtual_nodes, {ns, "milan"},
                    R"({"metadata": {"labels": {"liqo.io/remote-cluster-id": "milan"}}})");
  clusters.rome.forbidden.insert("/api/v1/pods");
  const Done done = clusters.unpeer();
  CHECK(done.code == 1);
  CHECK(done.err ==
        "ERRO: cannot ask for confirmation without a terminal: pass --skip-confirm to proceed. Pods that run in milan "
        "will end there; which they are, this user may not see.\n");
}

TEST_CASE("unpeer that gives up says how to do without the provider") {
  Clusters clusters;
  add_credentials_at_milan(clusters.rome);
  silence_milan(clusters.rome);
  add_pool(clusters.rome, R"({"metadata": {"finalizers": ["liqo.io/replication"]}})");
  const Done done = clusters.unpeer(" --skip-confirm --timeout 4s");
  CHECK(done.code == 1);
  CHECK_MESSAGE(
      done.err.contains("(milan does not answer since 2026-01-01T06:28:52Z; if it will not come back: liqoctl "
                        "force unpeer milan)"),
      done.err);
}

TEST_CASE("unpeer from a provider that is gone says how to do without it") {
  Clusters clusters;
  clusters.milan.is_gone = true;
  const Done done = clusters.unpeer(" --timeout 4s");
  CHECK(done.code == 1);
  CHECK(done.err == "ERRO: cluster milan cannot be reached at " + clusters.milan.address() +
                        ", the server that its kubeconfig names (Connection refused): check that address, and that "
                        "this machine reaches it; if the provider will not come back: liqoctl force unpeer ID\n");
}

TEST_CASE("unpeer that is refused has deleted no data") {
  Clusters clusters;
  const kube::ObjectKey claim{"shop", "data"};
  clusters.rome.add(kinds::foreign_clusters, {"", "of-a-person"},
                    R"({"spec": {"clusterID": "milan"}, "status": {"role": "ConsumerAndProvider"}})");
  clusters.rome.add(kinds::claims, claim,
                    R"({"spec": {"volumeName": "pvc-c1"}, "metadata": {"uid": "c1", "annotations": {
      "storage.liqo.io/backing-cluster": "milan", "storage.liqo.io/backing-claim": "shop-rome/data"}}})");
  const Done done = clusters.unpeer(" --skip-confirm --delete-volumes --delete-namespaces");
  CHECK(done.code == 1);
  CHECK(done.err ==
        "ERRO: milan also consumes from rome: end that peering first, it uses the same tenant namespaces\n");
  CHECK(clusters.rome.has(kinds::claims, claim));
  CHECK(clusters.rome.writes() + clusters.milan.writes() == 0);
}

}  // namespace
}  // namespace liqoctl::test
