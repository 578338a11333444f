// liqoctl check.
#include <doctest/doctest.h>

#include <algorithm>

#include "../installed_cluster.hpp"

namespace liqoctl::test {
namespace {

TEST_CASE("check says of each thing what is wrong with it, or that it cannot be seen") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  rome.ahead = std::chrono::hours(1);
  add_peer(rome, "milan", R"({"role": "Provider", "conditions": [{"type": "APIServerStatus", "status": "Error",
      "message": "it says \u001b[2J nothing"}]})");
  rome.forbidden = {resources::nodes.path(""), kinds::identities.path("")};
  const Done done = world.run("check", rome);
  CHECK(done.code == 1);
  CHECK_FALSE((done.out + done.err).contains('\x1b'));
  for (const char* line :
       {"✖ CRDs +not there: .* liqoctl upgrade --kinds", "✖ rights +liqod lacks ", "• liqod +there is no Deployment",
        "✖ clock +.* ahead of this machine's", "✖ webhooks +their configurations are not there",
        "✖ certificates +cannot be looked at: ", "✖ nodes +cannot be looked at: ",
        "✖ API server +.* leads every consumer to itself", "• kubelet API +there is no virtual node",
        "✖ peer milan +APIServerStatus: it says .* nothing"}) {
    CAPTURE(line);
    CHECK_MESSAGE(has_line(done.out, line), done.out);
  }
  const kube::json::value document = parsed(world.run("check -o json", rome).out);
  const auto& checks = kube::array_at(document, {"checks"});
  const auto bad = std::ranges::count_if(
      checks, [](const kube::json::value& one) { return kube::string_at(one, {"state"}) == "bad"; });
  CHECK(kube::find(document, {"passed"}) != nullptr);
  CHECK_FALSE(kube::bool_at(document, {"passed"}, true));
  CHECK_MESSAGE(done.err.ends_with("ERRO: " + std::to_string(bad) + " of " + std::to_string(checks.size()) +
                                   " checks failed: each says above what to do\n"),
                done.err);
}

TEST_CASE("check tells a liqod that does not run once") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  stop_liqod(rome);
  const Done done = world.run("check", rome);
  CHECK_MESSAGE(has_line(done.out, std::string("✖ liqod +") + no_liqod), done.out);
  for (const std::string about : {"webhooks", "kubelet API", "metrics", "pod metrics"}) {
    CAPTURE(about);
    CHECK_MESSAGE(has_line(done.out, "• " + about + " +not looked at: liqod does not run$"), done.out);
  }
}

TEST_CASE("check looks at the rights that values ask for") {
  InstalledCluster installed(
      {"storage.enabled=true", "offloading.namespaces.selector=team=ml", "apiServer.hostForPods=rome.example"});
  TestCluster& rome = installed.rome;
  const Done whole = installed.run("check");
  CHECK_MESSAGE(has_line(whole.out, "✔ rights "), (whole.out + whole.err));
  for (const std::string role : {"metric-agent", "storage", "namespaces", "tokens"}) {
    CAPTURE(role);
    const kube::ObjectKey key{"", "liqo-liqod-" + role};
    const std::string kept = rome.get(kinds::cluster_roles, key).text();
    rome.remove(kinds::cluster_roles, key);
    const Done done = installed.run("check");
    CHECK_MESSAGE(done.out.contains("liqod lacks ClusterRole " + key.name + ":"), done.out);
    rome.add(kinds::cluster_roles, key, kept);
  }
}

TEST_CASE("check names Services that get no topology hints because of a virtual node") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  constexpr std::string_view status =
      R"("status": {"allocatable": {"cpu": "4"}, "conditions": [{"type": "Ready", "status": "True"}]}})";
  rome.add(resources::nodes, {"", "rome-1"},
           R"({"metadata": {"labels": {"topology.kubernetes.io/zone": "a"}}, )" + std::string(status));
  rome.add(resources::nodes, {"", "milan"},
           R"({"metadata": {"labels": {"liqo.io/type": "virtual-node"}}, )" + std::string(status));
  CHECK_FALSE(world.run("check", rome).out.contains("topology hints"));
  rome.add(resources::services, {"shop", "web"},
           R"({"metadata": {"annotations": {"service.kubernetes.io/topology-mode": "Auto"}}})");
  const Done done = world.run("check", rome);
  CHECK_MESSAGE(has_line(done.out, "✖ topology hints +Services with topology-mode Auto .shop/web. get no hints"),
                done.out);
  rome.forbidden = {resources::services.path("")};
  CHECK(has_line(world.run("check", rome).out, "✖ topology hints +cannot be looked at: "));
}

TEST_CASE("check names Deployments that are spread over a virtual node where their pods may not run") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  rome.add(resources::nodes, {"", "rome-1"}, R"({"metadata": {"labels": {"kubernetes.io/hostname": "rome-1"}}})");
  rome.add(resources::nodes, {"", "milan"},
           R"({"metadata": {"labels": {"liqo.io/type": "virtual-node", "kubernetes.io/hostname": "milan"}},
               "spec": {"taints": [{"key": "virtual-node.liqo.io/not-allowed", "effect": "NoExecute"}]}})");
  for (const std::string ns : {"shop", "away", "local"})
    rome.add(kinds::deployments, {ns, "web"}, R"({"spec": {"template": {"spec": {"topologySpreadConstraints": [
        {"topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}]}}}})");
  rome.add(kinds::namespace_offloadings, {"away", "offloading"});
  rome.add(kinds::namespace_offloadings, {"local", "offloading"}, R"({"spec": {"podOffloadingStrategy": "Local"}})");
  const Done done = world.run("check", rome);
  CHECK_MESSAGE(has_line(done.out, "✖ topology spread +pods of "), done.out);
  for (const std::string ns : {"shop", "local"}) CHECK(done.out.contains(ns + "/web (kubernetes.io/hostname)"));
  CHECK_FALSE(done.out.contains("away/web"));
}

}  // namespace
}  // namespace liqoctl::test
