// liqoctl peer: from two clusters to a slice. The test plays the liqods of both.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/keys.hpp"

namespace liqoctl::test {
namespace {

namespace core = liqo::core;

const kube::ObjectKey nonce_at_milan{"liqo-tenant-rome", std::string(core::nonce_secret)};
const kube::ObjectKey nonce_at_rome{"liqo-tenant-milan", std::string(core::signed_nonce_secret)};
const kube::ObjectKey identity{"liqo-tenant-milan", core::control_plane_identity_name("milan")};
const kube::ObjectKey slice{"liqo-tenant-milan", "milan"};

struct Clusters {
  CommandWorld world;
  TestCluster rome{world, "rome"};
  TestCluster milan{world, "milan"};

  Done peer(const std::string& flags = {}) { return world.run("peer" + flags, rome, milan); }

  void add_keys_of_rome() {
    const auto key = core::PrivateKey::make_ed25519(core::secure_random);
    REQUIRE(key.has_value());
    rome.add(resources::secrets, {"liqo", std::string(core::cluster_keys_secret)},
             core::forge_cluster_keys("liqo", *key).text());
  }

  /// Makes the liqods finish their part as soon as the command looks for it.
  void run_liqods() {
    milan.before_reading = [this](std::string_view path) {
      fill(milan, {resources::secrets, nonce_at_milan, R"({"data": {"nonce": "bm9uY2U="}})"}, path);
      fill(milan,
           {kinds::tenants, tenant_of_rome,
            R"({"status": {"authParams": {"signedCRT": "Y3J0"}, "tenantNamespace": "liqo-tenant-rome"}})"},
           path);
    };
    rome.before_reading = [this](std::string_view path) {
      fill(rome, {resources::secrets, nonce_at_rome, R"({"data": {"signedNonce": "c2lnbmVk"}})"}, path);
      fill(rome, {kinds::identities, identity, R"({"status": {"kubeconfigSecretRef": {"name": "kubeconfig"}}})"}, path);
      fill(rome,
           {kinds::resource_slices, slice,
            R"({"status": {"resources": {"cpu": "4"}, "conditions": [
               {"type": "Authentication", "status": "Accepted"}, {"type": "Resources", "status": "Accepted"}]}})"},
           path);
    };
  }

 private:
  struct Part {
    kube::Resource resource;
    kube::ObjectKey key;
    const char* patch;
  };
  static void fill(TestCluster& cluster, const Part& part, std::string_view path) {
    if (path == part.resource.path(part.key.ns, part.key.name) && cluster.has(part.resource, part.key))
      cluster.change(part.resource, part.key, part.patch);
  }
};

constexpr const char* handshake =
    "WARN: milan: pods of milan will show no addresses here, because it does not say in which ranges they are: give "
    "--pod-cidr RANGE, or --pod-cidr none\n"
    "INFO: rome: tenant namespace liqo-tenant-milan created\n"
    "INFO: milan: tenant namespace liqo-tenant-rome created\n"
    "INFO: milan: the Secret with the nonce is ready\n"
    "INFO: rome: nonce signed\n"
    "INFO: milan: Tenant rome created\n"
    "INFO: milan: Tenant rome admitted\n";

TEST_CASE("peer carries what each cluster gives to the other") {
  Clusters clusters;
  clusters.add_keys_of_rome();
  clusters.run_liqods();
  const Done done = clusters.peer(" --create-resource-slice=false");
  CHECK(done.code == 0);
  CHECK(done.out.empty());
  CHECK(done.err == handshake + ("INFO: rome: Identity " + identity.name + " created\n") + "INFO: rome: Identity " +
                        identity.name +
                        " has its kubeconfig\n"
                        "INFO: rome is peered with milan; next: liqoctl create resourceslice NAME --remote-cluster-id "
                        "milan\n");
  // The Tenant has the signature of rome, and the Identity has the credentials of milan.
  CHECK(kube::string_at(clusters.milan.get(kinds::tenants, tenant_of_rome).spec(), {"clusterID"}) == "rome");
  CHECK(kube::string_at(clusters.rome.get(resources::secrets, nonce_at_rome).tree(), {"data", "nonce"}) == "bm9uY2U=");
  CHECK(kube::string_at(clusters.rome.get(kinds::identities, identity).spec(), {"authParams", "signedCRT"}) == "Y3J0");
  CHECK_FALSE(clusters.rome.has(kinds::resource_slices, slice));
}

TEST_CASE("peer asks for a slice, and goes on where it was") {
  Clusters clusters;
  clusters.add_keys_of_rome();
  clusters.run_liqods();
  const Done done = clusters.peer(" --cpu 4 --wait slice");
  CHECK(done.code == 0);
  CHECK_MESSAGE(done.err.starts_with(handshake), done.err);
  CHECK_MESSAGE(done.err.contains("INFO: rome: ResourceSlice milan created, asking for cpu 4\n"
                                  "INFO: rome: ResourceSlice milan accepted, granted cpu 4\n"),
                done.err);
  CHECK_MESSAGE(done.err.ends_with("INFO: rome is peered with milan; next: liqoctl offload namespace NAME\n"),
                done.err);
  const Done again = clusters.peer(" --wait slice");
  CHECK(again.code == 0);
  CHECK_MESSAGE(again.err.contains("INFO: rome: ResourceSlice milan unchanged\n"), again.err);
  CHECK_FALSE(again.err.contains("tenant namespace"));
}

TEST_CASE("peer that waits in vain for the other liqod says for what") {
  Clusters clusters;
  clusters.add_keys_of_rome();
  const Done done = clusters.peer(" --timeout 3s");
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("ERRO: authentication: milan: gave up waiting for the nonce of the provider after "),
                done.err);
  CHECK_MESSAGE(done.err.ends_with("last seen: it is not filled: is liqod running in that cluster?\n"), done.err);
}

TEST_CASE("two kubeconfigs of one cluster are no pair") {
  Clusters clusters;
  const Done done = clusters.world.run("peer", clusters.rome, clusters.rome);
  CHECK(done.code == 1);
  CHECK(done.err ==
        "ERRO: both kubeconfigs lead to cluster rome: give that of the other cluster with --remote-kubeconfig\n");
  const Done other = clusters.peer(" --remote-cluster-id turin");
  CHECK(other.code == 1);
  CHECK(other.err ==
        "ERRO: provider: the remote kubeconfig leads to cluster milan, not to turin as --remote-cluster-id says\n");
  CHECK(clusters.rome.writes() + clusters.milan.writes() == 0);
}

TEST_CASE("clocks that do not agree are told of, as the API servers date what they answer") {
  struct Case {
    std::chrono::seconds at_home, there;
    const char* told;
  };
  // Whose clock is right does not matter: it may be the user's own clock that is off.
  constexpr std::chrono::seconds none{0}, hour{3600};
  for (const Case& one :
       {Case{none, hour, "its clock is 60 min ahead of that of rome"},
        Case{none, -2 * hour, "its clock is 120 min behind that of rome"},
        Case{hour, none, "its clock is 60 min behind that of rome"}, Case{hour, hour, ""}, Case{none, none, ""}}) {
    CAPTURE(one.at_home);
    CAPTURE(one.there);
    Clusters clusters;
    clusters.rome.ahead = one.at_home;
    clusters.milan.ahead = one.there;
    const Done done = clusters.peer(" --dry-run");
    // The actions of the dry run come after the comparison of the clocks.
    CHECK_MESSAGE((done.err + done.out).contains("authentication-keys"), done.err);
    CHECK(done.err.contains("clock") == (one.told[0] != '\0'));
    if (one.told[0] == '\0') continue;
    CHECK_MESSAGE(
        has_line(done.err, "WARN: milan: .*" + std::string(one.told) + ".*synchronise the clocks of both clusters"),
        done.err);
    CHECK(done.err.find("clock", done.err.find("clusters") + 1) == std::string::npos);
  }
}

TEST_CASE("who cannot mend liqod of the other cluster is told whom to ask") {
  Clusters clusters;
  clusters.milan.add_tenant_namespace("rome");
  clusters.milan.unreviewed = "namespace.validate.liqo.io";
  const std::string does_not = "which reviews this request, does not answer";
  const std::string cause = does_not + " (dial tcp 10.96.0.9:443: connect: connection refused)";
  // In this order: the step that failed, whose liqod it is, and what to do.
  const Done asked = clusters.peer(" --allow-twin-names shop");
  CHECK(asked.code == 1);
  CHECK_MESSAGE(asked.err.contains("milan: allowing names of twins: "), asked.err);
  CHECK_MESSAGE(asked.err.ends_with("liqod of cluster milan, " + cause + ": ask its operator whether it runs\n"),
                asked.err);
  // The name that every installer gives.
  clusters.rome.write_kubeconfig("{}", "kubernetes");
  clusters.milan.write_kubeconfig("{}", "kubernetes");
  const Done either = clusters.peer(" --allow-twin-names shop");
  CHECK_MESSAGE(either.err.ends_with("liqod of one of the two clusters, " + cause +
                                     ": liqoctl check, with the kubeconfig of each, says what is wrong\n"),
                either.err);
  stop_liqod(clusters.milan);
  const Done known = clusters.peer(" --allow-twin-names shop");
  CHECK_MESSAGE(known.err.ends_with("liqod of cluster milan, " + does_not +
                                    ": it is scaled to none: ask its operator to start it\n"),
                known.err);
}

}  // namespace
}  // namespace liqoctl::test
