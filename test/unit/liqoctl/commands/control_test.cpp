// liqoctl cordon, uncordon, drain and activate, at the provider.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"
#include "core/common/peer_names.hpp"
#include "core/quota/quota_user.hpp"

namespace liqoctl::test {
namespace {

struct Provider {
  CommandWorld world;
  TestCluster milan{world, "milan"};
  Provider() { add_consumer_rome(milan); }

  std::string condition() {
    return std::string(kube::string_at(milan.get(kinds::tenants, tenant_of_rome).spec(), {"tenantCondition"}));
  }
  /// Adds an ending pod of rome, created by its slice.
  void add_ending_pod(const std::string& name) {
    const std::string user = liqo::core::escape_user(liqo::core::slice_user("milan", "rome"));
    milan.add(resources::pods, {"demo-rome", name},
              R"({"metadata": {"deletionTimestamp": "2026-11-21T10:00:00Z", "labels": {
                 "liqo.io/managed-by": "shadowpod", "offloading.liqo.io/origin": "rome", "liqo.io/creator-user": ")" +
                  user + R"("}}})");
  }
};

constexpr const char* no_terminal =
    "cannot ask for confirmation without a terminal: pass --skip-confirm to proceed. Tenant rome: its slices will be "
    "denied";

TEST_CASE("drain says what becomes of the pods") {
  for (const bool keeps : {false, true}) {
    CAPTURE(keeps);
    Provider provider;
    const std::string drain = std::string("drain tenant rome --timeout 60s") + (keeps ? " --keep-pods" : "");
    const Done refused = provider.world.run(drain, provider.milan);
    CHECK(refused.code == 1);
    CHECK(refused.err == std::string("ERRO: ") + no_terminal +
                             (keeps ? " and new pods refused; pods that run stay.\n"
                                    : ", new pods refused, and pods that run removed.\n"));
    // It has waited for the one slice that is denied, and not for the one that never is.
    const Done done = provider.world.run(drain + " --skip-confirm", provider.milan);
    CHECK(done.code == 0);
    CHECK(done.err == std::string("INFO: milan: Tenant rome drained: ") +
                          (keeps ? "its pods that run stay\n" : "its pods end within their grace periods\n"));
    CHECK(provider.condition() == "Drained");
    CHECK(provider.milan.get(kinds::tenants, tenant_of_rome).annotation("liqo.io/keep-pods") == (keeps ? "true" : ""));
  }
}

TEST_CASE("a dry run drains nothing and says so") {
  Provider provider;
  const std::string tenant = provider.milan.get(kinds::tenants, tenant_of_rome).text();
  const std::string granted = provider.milan.get(kinds::resource_slices, slice_of_rome).text();
  const Done done = provider.world.run("drain tenant rome --dry-run", provider.milan);
  CHECK(done.code == 0);
  CHECK(done.err == "INFO: milan: would update Tenant liqo-tenant-rome/rome\n");
  const Done cordoned =
      provider.world.run("cordon resourceslice milan --remote-cluster-id rome --dry-run", provider.milan);
  CHECK(cordoned.code == 0);
  CHECK(cordoned.err == "INFO: milan: would update ResourceSlice liqo-tenant-rome/milan\n");
  CHECK(provider.milan.get(kinds::tenants, tenant_of_rome).text() == tenant);
  CHECK(provider.milan.get(kinds::resource_slices, slice_of_rome).text() == granted);
  CHECK(provider.milan.writes() == 0);
}

TEST_CASE("who ends a drain is told which pods it does not keep") {
  Provider provider;
  provider.milan.change(kinds::tenants, tenant_of_rome, R"({"spec": {"tenantCondition": "Drained"}})");
  provider.add_ending_pod("ends");
  provider.add_ending_pod("ends-too");
  provider.add_ending_pod("runs");
  provider.milan.change(resources::pods, {"demo-rome", "runs"}, R"({"metadata": {"deletionTimestamp": null}})");
  provider.milan.add(resources::pods, {"demo-rome", "own"},
                     R"({"metadata": {"deletionTimestamp": "2026-11-21T10:00:00Z"}})");
  const Done done = provider.world.run("uncordon tenant rome", provider.milan);
  CHECK(done.code == 0);
  CHECK(done.err ==
        "INFO: milan: the drain has begun to end 2 pods: they are not kept, and start anew\n"
        "INFO: milan: Tenant rome is Active again\n");
  const Done again = provider.world.run("activate tenant rome", provider.milan);
  CHECK(again.code == 0);
  CHECK(again.err == "WARN: milan: Tenant rome is Active already\n");
}

TEST_CASE("who ends the drain of a slice learns that that of the tenant goes on") {
  for (const bool is_drained : {true, false}) {
    CAPTURE(is_drained);
    Provider provider;
    provider.milan.change(kinds::tenants, tenant_of_rome,
                          is_drained ? R"({"spec": {"tenantCondition": "Drained"}})" : "{}");
    provider.milan.change(kinds::resource_slices, slice_of_rome,
                          R"({"metadata": {"annotations": {"liqo.io/drain": "true"}}})");
    provider.add_ending_pod("ends");
    const Done done = provider.world.run("uncordon resourceslice milan --remote-cluster-id rome", provider.milan);
    CHECK(done.code == 0);
    // The pods of a drained Tenant end all the same, and none starts again.
    if (is_drained) {
      CHECK(done.err ==
            "INFO: milan: ResourceSlice milan of rome uncordoned\n"
            "WARN: milan: Tenant rome is still Drained (liqoctl uncordon tenant rome)\n");
    } else {
      CHECK(done.err ==
            "INFO: milan: the drain has begun to end 1 pod: it is not kept, and starts anew\n"
            "INFO: milan: ResourceSlice milan of rome uncordoned\n");
    }
  }
}

TEST_CASE("a slice is cordoned once, by both keys, and uncordoned") {
  Provider provider;
  const std::string slice = " resourceslice milan --remote-cluster-id rome --skip-confirm";
  CHECK(provider.world.run("cordon" + slice, provider.milan).err ==
        "INFO: milan: ResourceSlice milan of rome cordoned\n");
  CHECK(provider.milan.get(kinds::resource_slices, slice_of_rome).annotations().size() == 2);
  CHECK(provider.world.run("cordon" + slice, provider.milan).err ==
        "WARN: milan: ResourceSlice milan of rome is cordoned already\n");
  CHECK(provider.world.run("uncordon" + slice, provider.milan).err ==
        "INFO: milan: ResourceSlice milan of rome uncordoned\n");
  CHECK(provider.milan.get(kinds::resource_slices, slice_of_rome).annotations().empty());
}

TEST_CASE("a tenant that is drained is not cordoned") {
  Provider provider;
  provider.milan.change(kinds::tenants, tenant_of_rome, R"({"spec": {"tenantCondition": "Drained"}})");
  const Done done = provider.world.run("cordon tenant rome --skip-confirm", provider.milan);
  CHECK(done.code == 0);
  CHECK(done.err == "WARN: milan: Tenant rome is Drained, nothing was changed (liqoctl activate tenant undoes that)\n");
  CHECK(provider.condition() == "Drained");
}

TEST_CASE("a slice that stays accepted makes the drain give up, and says which") {
  Provider provider;
  provider.milan.change(kinds::resource_slices, slice_of_rome,
                        R"({"status": {"conditions": [{"type": "Resources", "status": "Accepted"}]}})");
  const Done done = provider.world.run("drain tenant rome --skip-confirm --timeout 5s", provider.milan);
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.starts_with("ERRO: gave up waiting for the slices to be denied after "), done.err);
  CHECK_MESSAGE(done.err.ends_with("s; last seen: still accepted: milan\n"), done.err);
}

TEST_CASE("a change that liqod cannot review says so in one sentence") {
  Provider provider;
  provider.milan.unreviewed = "tenant.validate.liqo.io";
  const std::string told = "liqod of this cluster (milan), which reviews this request, does not answer";
  const Done unknown = provider.world.run("cordon tenant rome --skip-confirm", provider.milan);
  CHECK(unknown.code == 1);
  CHECK_MESSAGE(
      unknown.err.ends_with(
          "/tenants/rome in milan: " + told +
          " (dial tcp 10.96.0.9:443: connect: connection refused): kubectl get pods -n liqo shows whether it runs "
          "there, and liqoctl check what is wrong\n"),
      unknown.err);
  CHECK(has_line(unknown.err, R"(ERRO: \w+ \S+/tenants/rome in milan: liqod)"));
  stop_liqod(provider.milan);
  const Done known = provider.world.run("cordon tenant rome --skip-confirm", provider.milan);
  CHECK_MESSAGE(known.err.ends_with("/tenants/rome in milan: " + told + ": it " + no_liqod + "\n"), known.err);
  CHECK(has_line(known.err, R"(ERRO: \w+ \S+/tenants/rome in milan: liqod)"));
}

}  // namespace
}  // namespace liqoctl::test
