// liqoctl offload and unoffload namespace.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"
#include "core/offloading/daemon_sets.hpp"
#include "kube/wire/yaml.hpp"

namespace liqoctl::test {
namespace {

const kube::ObjectKey offloading{"shop", "offloading"};
const kube::ObjectKey claim{"shop", "data"};

struct Consumer {
  CommandWorld world;
  TestCluster rome{world, "rome"};
  explicit Consumer(std::string_view shop = "{}") { rome.add(resources::namespaces, {"", "shop"}, shop); }

  Done run(const std::string& words) { return world.run(words, rome); }
  /// Sets the status that liqod gives to the offloading.
  void reach(const std::string& phase) {
    rome.before_reading = [this, phase](std::string_view path) {
      if (path == kinds::namespace_offloadings.path(offloading.ns, offloading.name) &&
          rome.has(kinds::namespace_offloadings, offloading))
        rome.change(kinds::namespace_offloadings, offloading,
                    R"({"status": {"observedGeneration": 1, "offloadingPhase": ")" + phase + R"("}})");
    };
  }
  void add_claim_with_data_in_milan() {
    rome.add(kinds::claims, claim, R"({"spec": {"volumeName": "pvc-c1"}, "metadata": {"uid": "c1", "annotations": {
        "storage.liqo.io/backing-cluster": "milan", "storage.liqo.io/backing-claim": "shop-rome/data"}}})");
  }
};

TEST_CASE("a namespace is offloaded, and comes home") {
  Consumer consumer;
  consumer.reach("Ready");
  const Done there = consumer.run("offload namespace shop");
  CHECK(there.code == 0);
  CHECK(there.err ==
        "INFO: rome: namespace shop is offloaded\n"
        "INFO: rome: pods of shop elsewhere read the twin's name as their namespace, unless they have a token for the "
        "API server here (EnforceSameName gives both one name)\n");
  CHECK(kube::string_at(consumer.rome.get(kinds::namespace_offloadings, offloading).spec(),
                        {"podOffloadingStrategy"}) == "LocalAndRemote");
  const Done refused = consumer.run("unoffload namespace shop");
  CHECK(refused.code == 1);
  CHECK_MESSAGE(refused.err.ends_with("Namespaces at providers will be deleted with all that is in them, for: shop.\n"),
                refused.err);
  const Done home = consumer.run("unoffload namespace shop --skip-confirm");
  CHECK(home.code == 0);
  CHECK(home.err == "INFO: rome: namespace shop is no longer offloaded\n");
  CHECK_FALSE(consumer.rome.has(kinds::namespace_offloadings, offloading));
}

TEST_CASE("nothing is said of the namespace that pods read if it is their own, or none run elsewhere") {
  for (const char* const flags : {"--namespace-mapping-strategy EnforceSameName", "--pod-offloading-strategy Local",
                                  "--namespace-mapping-strategy SelectedName --remote-namespace-name shop"}) {
    CAPTURE(flags);
    Consumer consumer;
    consumer.reach("Ready");
    const Done there = consumer.run(std::string("offload namespace shop ") + flags);
    CHECK(there.code == 0);
    CHECK(there.err == "INFO: rome: namespace shop is offloaded\n");
  }
}

TEST_CASE(
    "who offloads a namespace is told of its DaemonSets that tolerate everything, unless they are to be elsewhere") {
  const std::string told =
      "WARN: rome: DaemonSets of offloaded namespaces have one pod on each virtual node, not on each node of the other "
      "cluster: shop/agent; keep them off with: liqoctl exclude daemonsets shop/agent\n";
  for (const bool is_remote : {false, true}) {
    Consumer consumer;
    for (const char* name : {"shop", "office"})
      consumer.rome.add(liqo::core::daemon_sets, {name, "agent"},
                        R"({"spec": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}})");
    consumer.rome.add(liqo::core::daemon_sets, {"shop", "modest"}, R"({"spec": {"template": {"spec": {}}}})");
    consumer.reach("Ready");
    const Done done =
        consumer.run(is_remote ? "offload namespace shop --pod-offloading-strategy Remote" : "offload namespace shop");
    CHECK(done.code == 0);
    CHECK(done.err.contains("namespace shop is offloaded\n"));
    CHECK(done.err.contains(told) == !is_remote);
  }
}

TEST_CASE("who offloads without a provider is told that there is none") {
  Consumer consumer;
  consumer.reach("NoClusterSelected");
  const Done done = consumer.run("offload namespace shop");
  CHECK(done.code == 0);
  CHECK(done.err == "WARN: rome: namespace shop is offloaded, but there are no virtual nodes yet: run liqoctl peer\n");
}

TEST_CASE("an offloading at which nobody looks is given up") {
  Consumer consumer;
  const Done done = consumer.run("offload namespace shop --timeout 1s");
  CHECK(done.code == 1);
  CHECK_MESSAGE(
      done.err.contains("ERRO: gave up waiting for namespace shop to have its twin namespace at each provider after "),
      done.err);
  CHECK_MESSAGE(done.err.contains("; last seen: liqod has not looked at it yet"), done.err);
}

TEST_CASE("what is not offloaded is told before anybody is asked") {
  Consumer consumer;
  const Done home = consumer.run("unoffload namespace shop");
  CHECK(home.code == 0);
  CHECK(home.err == "INFO: rome: namespace shop is not offloaded\n");
  const Done mistyped = consumer.run("unoffload namespace shpo");
  CHECK(mistyped.code == 1);
  CHECK(mistyped.err == "ERRO: there is no namespace shpo in cluster rome\n");
}

TEST_CASE("a namespace that stays offloaded keeps its data") {
  Consumer consumer(R"({"metadata": {"labels": {"team": "ml"}}})");
  consumer.rome.add(kinds::namespace_offloadings, offloading,
                    R"({"metadata": {"annotations": {"offloading.liqo.io/namespace-selector": "team=ml"}}})");
  consumer.add_claim_with_data_in_milan();
  const Done done = consumer.run("unoffload namespace shop --skip-confirm --delete-volumes");
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("namespace shop is offloaded because it has the labels team=ml"), done.err);
  CHECK(consumer.rome.has(kinds::claims, claim));
  CHECK(consumer.rome.writes() == 0);
}

TEST_CASE("a namespace whose data is elsewhere does not come home without being told to") {
  Consumer consumer;
  consumer.rome.add(kinds::namespace_offloadings, offloading);
  consumer.add_claim_with_data_in_milan();
  const Done done = consumer.run("unoffload namespace shop --skip-confirm");
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("shop/data"), done.err);
  CHECK(consumer.rome.has(kinds::namespace_offloadings, offloading));
}

TEST_CASE("what is printed of an offloading is not written") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  for (const char* name : {"blue", "red"})
    rome.add(resources::namespaces, {"", name}, R"({"metadata": {"labels": {"team": "ml"}}})");
  const Done chosen = world.run("offload namespace --ns-selector team=ml -o yaml", rome);
  const auto printed = kube::wire::read_yaml(chosen.out);
  REQUIRE_MESSAGE(printed.has_value(), chosen.err);
  std::vector<std::string> namespaces;
  for (const kube::json::value& one : *printed)
    namespaces.emplace_back(kube::string_at(one, {"metadata", "namespace"}));
  CHECK(namespaces == std::vector<std::string>{"blue", "red"});
  CHECK(rome.writes() == 0);
  const Done nothing = world.run("offload namespace -o yaml", rome);
  CHECK(nothing.code == 1);
  CHECK_MESSAGE(nothing.err.contains("name the namespaces, or choose them by --ns-selector"), nothing.err);
  const Done both = world.run("offload namespace red --ns-selector team=ml -o yaml", rome);
  CHECK(both.code == 1);
  CHECK_MESSAGE(both.err.contains("give either names of namespaces or --ns-selector, not both"), both.err);
}

}  // namespace
}  // namespace liqoctl::test
