// liqoctl install and upgrade: the objects that they write, the changes that they show, and their last lines.
#include <doctest/doctest.h>

#include "../installed_cluster.hpp"

namespace liqoctl::test {
namespace {

constexpr const char* secret_text = "c2VjcmV0IG9mIHJvbWU=";

TEST_CASE("while Helm installs liqoctl does not") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  rome.remove(resources::config_maps, cluster_id);
  rome.add(kinds::cluster_role_bindings, {"", "liqo-kinds"});
  const Done done = world.run(std::string("install --cluster-id rome --set ") + image, rome);
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("Helm installs Liqo here just now: wait until it is"), done.err);
  CHECK(rome.writes() == 0);
}

TEST_CASE("what was shown in place of a secret is no value") {
  InstalledCluster installed;
  installed.world.files().write("values.yaml", "apiServer: {ca: '(set, not shown)'}");
  const Done done = installed.run("upgrade --dry-run -f " + installed.world.files().at("values.yaml"));
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("value apiServer.ca is what liqoctl get values shows in place of a secret"),
                done.err);
}

TEST_CASE("a dry run of an upgrade that changes nothing says so") {
  InstalledCluster installed;
  const std::uint64_t before = installed.version();
  const Done nothing = installed.run("upgrade --dry-run");
  CHECK(nothing.code == 0);
  CHECK(nothing.out.empty());
  CHECK_MESSAGE(nothing.err.contains("nothing would change; nothing was written"), nothing.err);
  CHECK(installed.version() == before);
}

TEST_CASE("a dry run of an upgrade shows what would change and writes nothing") {
  InstalledCluster installed;
  TestCluster& rome = installed.rome;
  rome.add(resources::config_maps, {"liqo", "liqo-earlier"},
           R"({"metadata": {"labels": {"app.kubernetes.io/name": "liqod", "app.kubernetes.io/instance": "liqo",
      "app.kubernetes.io/part-of": "liqo"}}})");
  rome.remove(resources::service_accounts, {"liqo", "liqo"});
  const std::uint64_t before = installed.version();
  const Done done = installed.run(std::string("upgrade --dry-run --set replicas=3 --set apiServer.ca=") + secret_text +
                                  " --set offloading.sharingPercentage=50");
  REQUIRE_MESSAGE(done.code == 0, done.err);
  for (const char* line : {"~ values\n", "    replicas: (none) → 3\n", "    apiServer.ca: set (not shown)\n",
                           "~ Deployment liqo/liqod\n", "    spec.replicas: 2 → 3\n",
                           "    spec.template.spec.containers[liqod].args: + --ca-override=(set, not shown)\n",
                           "~ ConfigMap liqo/liqo-sharing-policy\n    data.sharing-percentage: 90 → 50\n",
                           "~ Secret liqo/liqo-given-values\n    data.values: changed (not shown)\n",
                           "+ ServiceAccount liqo/liqo\n", "- ConfigMap liqo/liqo-earlier\n"}) {
    CAPTURE(line);
    CHECK_MESSAGE(done.out.contains(line), done.out);
  }
  CHECK_FALSE((done.out + done.err).contains(secret_text));
  CHECK_MESSAGE(done.err.contains("1 object would be added, "), done.err);
  CHECK_MESSAGE(done.err.contains(" changed, 1 removed; nothing was written"), done.err);
  CHECK(installed.version() == before);
  // --print only prints, and still needs no cluster.
  const Done printed =
      installed.world.run(std::string("upgrade --print --cluster-id rome --set replicas=3 --set ") + image);
  CHECK_MESSAGE(printed.out.contains("replicas: 3"), printed.err);
}

TEST_CASE("an installation that is not there would be added") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  rome.remove(resources::config_maps, cluster_id);
  const std::uint64_t before = rome.server().store().version();
  const Done done = world.run(std::string("install --dry-run --cluster-id rome --set ") + image, rome);
  CHECK(done.code == 0);
  CHECK_MESSAGE(done.out.contains("+ Namespace liqo\n"), done.err);
  CHECK_MESSAGE(done.out.contains("+ Deployment liqo/liqod\n"), done.err);
  CHECK_FALSE(done.out.contains("\n- "));
  CHECK_MESSAGE(done.err.contains("objects would be added; nothing was written"), done.err);
  CHECK(rome.server().store().version() == before);
}

TEST_CASE("a kind that is not there is told before anything is written") {
  InstalledCluster installed;
  const std::uint64_t before = installed.version();
  const Done done = installed.run("upgrade --set metrics.prometheusOperator.enabled=true");
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("rome has no kind PodMonitor: install the Prometheus operator first"), done.err);
  CHECK_MESSAGE(done.err.contains("metrics.prometheusOperator.enabled=false"), done.err);
  CHECK(installed.version() == before);
}

TEST_CASE("the last line says the step that is due") {
  InstalledCluster installed;
  TestCluster& rome = installed.rome;
  const auto last_line = [&] {
    const Done done = installed.run("upgrade");
    REQUIRE_MESSAGE(done.code == 0, done.err);
    const std::string lines = done.err.substr(0, done.err.size() - 1);
    return lines.substr(lines.rfind('\n') + 1);
  };
  const std::string begin = "INFO: Liqo runs as cluster rome";
  CHECK(last_line() == begin +
                           "; next, to let another cluster run pods here: liqoctl generate peering-user, and to run "
                           "pods in another one: liqoctl peer");
  for (const auto& [ns, end] :
       {std::pair{"liqo", "liqo-ns-reader"}, std::pair{"liqo-tenant-milan", "tenant-ns-writer"}})
    rome.add(kinds::role_bindings, {ns, std::string("liqo-peer-user-milan-") + end},
             R"({"metadata": {"labels": {"liqo.io/peering-user-name": "liqo-peer-user-milan"}}})");
  CHECK_MESSAGE(last_line().contains("; next: milan peers with the kubeconfig of its peering user"), last_line());
  const Done users = installed.run("get peering-user");
  CHECK(users.code == 0);
  const auto lines = words_of(users.out);
  REQUIRE(lines.size() > 1);
  REQUIRE(lines[1].size() >= 3);
  CHECK(std::vector(lines[1].begin(), lines[1].begin() + 3) ==
        std::vector<std::string>{"milan", "liqo-tenant-milan", "no"});
  const kube::json::value document = parsed(installed.run("get peering-user -o json").out);
  REQUIRE(document.is_array());
  REQUIRE(document.get_array().size() == 1);
  CHECK(kube::string_at(document.get_array().front(), {"consumer"}) == "milan");
  CHECK(kube::bool_at(document.get_array().front(), {"complete"}));

  add_peer(rome, "milan", R"({"role": "Consumer"})");
  CHECK(last_line() == begin);
  rome.change(kinds::foreign_clusters, {"", "milan"}, R"({"status": {"role": "ConsumerAndProvider"}})");
  CHECK(last_line() == begin + "; next: liqoctl create resourceslice NAME --remote-cluster-id milan");
  rome.add(kinds::virtual_nodes, {"liqo-tenant-milan", "milan"});
  CHECK(last_line() == begin + "; next: liqoctl offload namespace NAME");
  rome.add(kinds::namespace_offloadings, {"shop", "offloading"});
  CHECK(last_line() == begin);
}

}  // namespace
}  // namespace liqoctl::test
