#include "model/check/daemon_sets.hpp"

#include <doctest/doctest.h>

#include "core/offloading/daemon_sets.hpp"

using namespace liqoctl;
namespace json = kube::json;

namespace {

kube::Object object(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

kube::Object set_of(std::string_view name, std::string_view template_spec, std::string_view more = "") {
  return object(R"({"metadata":{"name":")" + std::string(name) + R"(","namespace":"kube-system"},"spec":{"template":{
      "spec":)" +
                std::string(template_spec) + "}" + std::string(more) + "}}");
}

const kube::Object proxy = set_of("kube-proxy", R"({"tolerations":[{"operator":"Exists"}]})");
const kube::Object agent = set_of("agent", R"({"tolerations":[{"operator":"Exists"}],"nodeSelector":{"pool":"far"},
    "containers":[{"name":"a","resources":{"requests":{"cpu":"100m","memory":"50Mi"}}}]})");
const kube::Object modest = set_of("modest", "{}");

kube::Object node(std::string_view labels) {
  return object(R"({"metadata":{"name":"n","labels":)" + std::string(labels) + "}}");
}
const kube::Object machine = node(R"({"pool":"far"})"), milan = node(R"({"liqo.io/type":"virtual-node","pool":"far"})");

}  // namespace

TEST_CASE("DaemonSets are told that sit on a virtual node or, before there is one, would") {
  const std::vector sets{proxy, agent, modest};
  const auto words = [&sets](const std::vector<kube::Object>& nodes) {
    return model::daemon_sets_in_words(model::sitting_daemon_sets(sets, nodes, {}));
  };
  CHECK(words({machine}) == "kube-system/kube-proxy");
  CHECK(words({machine, milan}) == "kube-system/kube-proxy, kube-system/agent (cpu 100m, memory 50Mi)");
  CHECK(model::sitting_daemon_sets(sets, {milan}, {"kube-system"}).empty());

  const auto found = model::judge_daemon_sets({proxy}, {machine, milan});
  REQUIRE(found);
  CHECK(found->state == model::State::bad);
  CHECK(found->text ==
        "pods on virtual nodes of kube-system/kube-proxy never become ready, so updates of these DaemonSets stall; "
        "`liqoctl exclude daemonsets` keeps them off");
  CHECK_FALSE(model::judge_daemon_sets({}, {milan}));
  CHECK_FALSE(model::judge_daemon_sets({proxy}, {machine}));
}

TEST_CASE("DaemonSets of offloaded namespaces are told, but for those that are meant to be elsewhere") {
  const auto offloading = [](std::string_view ns, std::string_view strategy) {
    return object(R"({"metadata":{"name":"offloading","namespace":")" + std::string(ns) +
                  R"("},"spec":{"podOffloadingStrategy":")" + std::string(strategy) + R"("}})");
  };
  const std::vector sets{proxy, agent, modest};
  const auto count = [&](const std::vector<kube::Object>& offloadings) {
    return model::elsewhere_daemon_sets(sets, {machine, milan}, offloadings).size();
  };
  CHECK(count({}) == 0);
  CHECK(count({offloading("shop", "LocalAndRemote")}) == 0);
  CHECK(count({offloading("kube-system", "Remote")}) == 0);
  CHECK(count({offloading("kube-system", "Local")}) == 2);
  CHECK(count({offloading("kube-system", "LocalAndRemote")}) == 2);

  const auto found = model::judge_elsewhere_daemon_sets({proxy, agent}, {machine, milan});
  REQUIRE(found);
  CHECK(found->state == model::State::open);
  CHECK(found->text ==
        "DaemonSets of offloaded namespaces have one pod on each virtual node, not on each node of the other cluster: "
        "kube-system/kube-proxy, kube-system/agent (cpu 100m, memory 50Mi); keep them off with: liqoctl exclude "
        "daemonsets kube-system/kube-proxy kube-system/agent");
  CHECK_FALSE(model::judge_elsewhere_daemon_sets({proxy}, {machine}));
  CHECK_FALSE(model::judge_elsewhere_daemon_sets({}, {milan}));
}

TEST_CASE("what an exclusion changes is shown, and what becomes of the pods") {
  kube::Object after = proxy;
  REQUIRE(liqo::core::keep_off_virtual_nodes(after));
  const std::string added = model::affinity_diff(proxy, after), taken = model::affinity_diff(after, proxy);
  CHECK(added.starts_with("  spec.template.spec.affinity.nodeAffinity."));
  CHECK(added.contains("\n  + nodeSelectorTerms:\n"));
  CHECK(added.contains("liqo.io/type\n"));
  CHECK(taken.contains("\n  - nodeSelectorTerms:\n"));
  const kube::Object pooled = set_of("a", R"({"affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[
      {"key":"pool","operator":"In","values":["far"]}]}]}}}})");
  kube::Object off = pooled;
  REQUIRE(liqo::core::keep_off_virtual_nodes(off));
  const std::string more = model::affinity_diff(pooled, off);
  CHECK(more.contains("\n    nodeSelectorTerms:\n"));
  CHECK(more.contains("\n  + "));
  CHECK_FALSE(more.contains("+ nodeSelectorTerms"));

  CHECK(model::roll_in_words(proxy).ends_with("every other one is replaced (maxUnavailable 1)"));
  CHECK(model::roll_in_words(set_of("a", "{}", R"(,"updateStrategy":{"rollingUpdate":{"maxUnavailable":"10%"}})"))
            .ends_with("(maxUnavailable 10%)"));
  CHECK(model::roll_in_words(set_of("a", "{}", R"(,"updateStrategy":{"type":"OnDelete"})")).contains("OnDelete"));
}
