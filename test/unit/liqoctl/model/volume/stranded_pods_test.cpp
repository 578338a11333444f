// The pods that find no node once a volume is in another cluster.
#include "model/volume/stranded_pods.hpp"

#include <doctest/doctest.h>

namespace {

using namespace liqoctl;
namespace json = kube::json;

kube::Object parsed(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

kube::Object offloading(std::string_view strategy, std::string_view region = "") {
  kube::Object made = parsed(R"({"metadata": {"name": "offloading", "namespace": "shop"}, "spec": {}})");
  made.mutable_spec()["podOffloadingStrategy"] = strategy;
  if (!region.empty())
    made.mutable_spec()["clusterSelector"] =
        json::parse(R"({"nodeSelectorTerms": [{"matchExpressions": [{"key": "region", "operator": "In", "values": [")" +
                    std::string(region) + R"("]}]}]})");
  return made;
}

const kube::Object home = parsed(R"({"metadata": {"name": "rome-1"}})");
const kube::Object milan =
    parsed(R"({"metadata": {"name": "milan", "labels": {"liqo.io/type": "virtual-node", "region": "europe",
        "liqo.io/remote-cluster-id": "milan"}}})");

std::string told(const kube::Object& node, const kube::Object* wish) {
  return model::describe_stranded(node, {"shop", "data-db-0"}, wish, {"StatefulSet db"});
}

}  // namespace

TEST_CASE("pods find no node where the strategy of their namespace keeps them from the volume") {
  struct Case {
    const char* title;
    const kube::Object& node;
    kube::Object wish;
    std::string_view told;  ///< "" = they find one
  };
  const std::string_view lets_both =
      "liqoctl offload namespace shop --pod-offloading-strategy LocalAndRemote lets them run there";
  const Case cases[] = {
      {"home, both", home, offloading("LocalAndRemote"), ""},
      {"home, both with a selector", home, offloading("LocalAndRemote", "mars"), ""},
      {"home, Local", home, offloading("Local"), ""},
      {"home, Remote", home, offloading("Remote"), "has the strategy Remote"},
      {"milan, Remote", milan, offloading("Remote"), ""},
      {"milan, Remote with its region", milan, offloading("Remote", "europe"), ""},
      {"milan, both", milan, offloading("LocalAndRemote"), ""},
      {"milan, Local", milan, offloading("Local"), "has the strategy Local"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.title);
    CHECK(model::may_run_on(one.node, &one.wish) == one.told.empty());
    const std::string text = told(one.node, &one.wish);
    CHECK(text.empty() == one.told.empty());
    if (one.told.empty()) continue;
    CHECK(text.contains(one.told));
    CHECK(text.ends_with(lets_both));
  }
  const kube::Object elsewhere = offloading("Remote", "mars");
  CHECK(told(milan, &elsewhere) ==
        "after the move to node milan, the pods of StatefulSet db will find no node, because namespace shop has a "
        "cluster selector without this node: liqoctl offload namespace shop --pod-offloading-strategy Remote "
        "--selector 'region=mars' --selector 'liqo.io/remote-cluster-id=milan' lets them run there");
  CHECK(told(home, nullptr).empty());
  CHECK(told(milan, nullptr)
            .ends_with("because namespace shop is not offloaded: liqoctl offload namespace shop lets them run there"));
  CHECK(model::describe_stranded(milan, {"shop", "a"}, nullptr, {}).contains("pods that use the claim will find"));
}

TEST_CASE("the way out changes nothing else, or is an edit where flags cannot say that") {
  kube::Object named = offloading("Remote", "mars");
  named.mutable_spec()["namespaceMappingStrategy"] = "SelectedName";
  named.mutable_spec()["remoteNamespaceName"] = "shop-there";
  CHECK(
      told(home, &named)
          .ends_with(
              ": liqoctl offload namespace shop --pod-offloading-strategy LocalAndRemote --namespace-mapping-strategy "
              "SelectedName --remote-namespace-name shop-there --selector 'region=mars' lets them run there"));
  kube::Object same_name = offloading("Local");
  same_name.mutable_spec()["namespaceMappingStrategy"] = "EnforceSameName";
  CHECK(
      told(milan, &same_name)
          .ends_with("--pod-offloading-strategy LocalAndRemote --namespace-mapping-strategy EnforceSameName lets them "
                     "run there"));
  kube::Object of_size = offloading("Remote");
  of_size.mutable_spec()["clusterSelector"] = json::parse(R"({"nodeSelectorTerms": [{"matchExpressions": [
      {"key": "size", "operator": "Gt", "values": ["5"]}]}]})");
  CHECK(told(milan, &of_size)
            .ends_with("podOffloadingStrategy Remote and a clusterSelector with this node (kubectl edit "
                       "namespaceoffloading offloading -n shop) lets them run there"));
}

TEST_CASE("what makes pods that use a claim has it in its template, or makes it") {
  const std::vector<kube::Object> workloads{
      parsed(R"({"kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {"volumeClaimTemplates":
          [{"metadata": {"name": "logs"}}, {"metadata": {"name": "data"}}]}})"),
      parsed(R"({"kind": "StatefulSet", "metadata": {"name": "db-0"}, "spec": {"volumeClaimTemplates":
          [{"metadata": {"name": "data"}}]}})"),
      parsed(R"({"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": {"spec": {"volumes":
          [{"name": "x", "persistentVolumeClaim": {"claimName": "data-db-0"}}]}}}})"),
      parsed(R"({"kind": "Deployment", "metadata": {"name": "other"}, "spec": {"template": {"spec": {"volumes":
          [{"name": "data-db-0", "emptyDir": {}}]}}}})")};
  CHECK(model::makers_of(workloads, "data-db-0") == std::vector<std::string>{"StatefulSet db", "Deployment web"});
  CHECK(model::makers_of(workloads, "data-db-").empty());
  CHECK(model::makers_of(workloads, "data-db-0-1") == std::vector<std::string>{"StatefulSet db-0"});
}
