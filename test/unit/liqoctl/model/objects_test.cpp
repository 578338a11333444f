// From arguments to objects.
#include <doctest/doctest.h>

#include "model/objects.hpp"
#include "text/yaml.hpp"

namespace {

using namespace liqoctl::model;

TEST_CASE("a slice has the labels by which it is replicated") {
  const Object slice = forge_resource_slice({.name = "gpu-pool",
                                             .ns = "liqo-tenant-cool-firefly",
                                             .provider = "cool-firefly",
                                             .resources = {{"cpu", "4"}, {"nvidia.com/gpu", "2"}}});
  CHECK(liqoctl::text::yaml(slice.tree()) == R"(apiVersion: authentication.liqo.io/v1beta1
kind: ResourceSlice
metadata:
  annotations:
    liqo.io/create-virtual-node: "true"
  labels:
    liqo.io/remote-cluster-id: cool-firefly
    liqo.io/remoteID: cool-firefly
    liqo.io/replication: "true"
  name: gpu-pool
  namespace: liqo-tenant-cool-firefly
spec:
  class: default
  providerClusterID: cool-firefly
  resources:
    cpu: "4"
    nvidia.com/gpu: "2"
)");
  const Object bare = forge_resource_slice({.name = "s", .ns = "n", .provider = "p", .create_virtual_node = false});
  CHECK(bare.annotation("liqo.io/create-virtual-node") == "false");
  CHECK_FALSE(bare.spec().contains("resources"));
}

TEST_CASE("names of twins are added to a policy, whose other keys stay") {
  CHECK(with_twin_names("", "rome", {"shop"}).value() == R"({"twinNames":["*-rome","shop"]})");
  CHECK(with_twin_names(R"({"hostPorts":true})", "rome", {"a*", "b"}).value() ==
        R"({"hostPorts":true,"twinNames":["*-rome","a*","b"]})");
  CHECK(with_twin_names(R"({"twinNames":["shop"]})", "rome", {"shop", "blog"}).value() ==
        R"({"twinNames":["shop","blog"]})");
  for (const char* broken : {"{", "[]", R"({"twinNames":"shop"})"}) {
    CAPTURE(broken);
    CHECK_FALSE(with_twin_names(broken, "rome", {"shop"}));
  }
}

TEST_CASE("a virtual node takes amounts, classes and labels from the granted slice") {
  const auto slice = Object::parse(R"({"metadata":{"name":"s"},"status":{"resources":{"cpu":"2"},
    "nodeLabels":{"region":"south"},"storageClasses":[{"storageClassName":"a"},{"storageClassName":"b","default":true}]}})");
  REQUIRE(slice);
  VirtualNodeRequest request{.name = "node", .ns = "n", .provider = "p", .kubeconfig_secret = "k"};
  take_from_slice(request, *slice);
  CHECK(json::serialize(forge_virtual_node(request).spec()) ==
        R"({"clusterID":"p","kubeconfigSecretRef":{"name":"k"},)"
        R"("resourceQuota":{"hard":{"cpu":"2"}},"labels":{"region":"south"},)"
        R"("storageClasses":[{"storageClassName":"b","default":true},{"storageClassName":"a"}]})");
  CHECK(forge_virtual_node(request).label("liqo.io/resourceslice-name") == "s");
  request.create_node = false;
  request.disable_network_check = false;
  CHECK(json::serialize(forge_virtual_node(request).spec())
            .contains(R"("createNode":false,"disableNetworkCheck":false)"));
}

TEST_CASE("a VirtualNode is refused beside one of its name in another namespace, with the remedy") {
  const auto node = [](std::string name, std::string ns, std::string provider) {
    return forge_virtual_node({.name = std::move(name), .ns = std::move(ns), .provider = std::move(provider)});
  };
  const Object wanted = node("gpu", "liqo-tenant-milan", "milan");
  CHECK(refuse_namesakes(wanted, {}) == "");
  CHECK(refuse_namesakes(wanted, {node("gpu", "liqo-tenant-milan", "milan"), node("cpu", "t", "naples")}) == "");
  CHECK(refuse_namesakes(wanted, {wanted, node("gpu", "liqo-tenant-naples", "naples")}) ==
        "there is a VirtualNode gpu of cluster naples already (in liqo-tenant-naples), and both would have one Node: "
        "choose another name, or delete that one first (liqoctl delete virtualnode gpu --remote-cluster-id naples)");
}

TEST_CASE("selectors of one offloading are alternatives, the requirements of each hold together") {
  const auto made =
      forge_namespace_offloading({.ns = "demo", .cluster_selectors = {"region=south,gpu", "region=north"}});
  REQUIRE(made);
  CHECK(made->name() == "offloading");
  CHECK(
      json::serialize(made->spec()) ==
      R"({"clusterSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"region","operator":"In","values":["south"]},)"
      R"({"key":"gpu","operator":"Exists"}]},{"matchExpressions":[{"key":"region","operator":"In","values":["north"]}]}]},)"
      R"("namespaceMappingStrategy":"DefaultName","podOffloadingStrategy":"LocalAndRemote"})");
  CHECK(json::serialize(forge_namespace_offloading({.ns = "demo"})->spec()) ==
        R"({"namespaceMappingStrategy":"DefaultName","podOffloadingStrategy":"LocalAndRemote"})");
  CHECK_FALSE(forge_namespace_offloading({.ns = "demo", .cluster_selectors = {"a in b"}}));
}

TEST_CASE("pairs are split at commas") {
  CHECK(json::serialize(*pairs({"a=b,c=d", "e="}, "--labels")) == R"({"a":"b","c":"d","e":""})");
  for (const char* wrong : {"a", "=b", "a=b,c"}) {
    CAPTURE(wrong);
    CHECK_FALSE(pairs({wrong}, "--labels"));
  }
}

TEST_CASE("a name that no object can have is refused before anything is tried") {
  for (const char* good : {"a", "gpu-pool", "a.b-c", "0"}) CHECK(check_name(good, 50));
  for (const char* bad : {"", "A", "A_B", "-a", "a-", "a b", "a/b"}) CHECK_FALSE(check_name(bad, 50));
  CHECK_FALSE(check_name(std::string(51, 'a'), 50));
  CHECK(check_name("A_B", 50).error().text() ==
        "'A_B' cannot be a name: at most 50 of a-z, 0-9, '-' and '.', a letter or digit at both ends");
}

TEST_CASE("an object is named by its namespace and its name") {
  for (const char* good : {"liqo/default", "a/b.c"}) CHECK(check_key(good));
  for (const char* bad : {"", "default", "/default", "liqo/", "li.qo/default", "liqo/A_B", "liqo/a/b"})
    CHECK_FALSE(check_key(bad));
  CHECK(check_key("default").error().text() == "'default' is not namespace/name, e.g. liqo/virtual-kubelet-default");
}

TEST_CASE("a selector is told as it was typed") {
  for (const char* typed : {"region=south", "region!=south", "region in (north,south)", "region notin (a,b)", "gpu",
                            "!gpu", "region=south,!gpu"}) {
    const auto offloading = forge_namespace_offloading({.ns = "demo", .cluster_selectors = {typed}});
    REQUIRE(offloading);
    CHECK(selector_in_words(*offloading) == typed);
  }
  CHECK(selector_in_words(*forge_namespace_offloading({.ns = "demo", .cluster_selectors = {"a=b", "c"}})) ==
        "a=b or c");
  const auto all = forge_namespace_offloading({.ns = "demo", .cluster_selectors = {""}});
  REQUIRE(all);
  CHECK(selector_in_words(*all).empty());
  CHECK_FALSE(all->spec().contains("clusterSelector"));
}

TEST_CASE("virtual nodes are told with the labels by which to choose") {
  Object milan = Object::make({"", "v1", "nodes", "Node", false}, {"", "milan"});
  milan.set_label("liqo.io/type", "virtual-node");
  milan.set_label("liqo.io/remote-cluster-id", "milan");
  milan.set_label("kubernetes.io/arch", "amd64");
  milan.set_label("topology.kubernetes.io/region", "south");
  milan.set_label("tier", "gold");
  const Object bare = Object::make({"", "v1", "nodes", "Node", false}, {"", "bare"});
  CHECK(nodes_in_words({milan, bare}) ==
        "milan (liqo.io/remote-cluster-id=milan, topology.kubernetes.io/region=south, tier=gold); bare");
}

TEST_CASE("pods that lose their node are named, and not too many") {
  const auto pod = [](const char* ns, std::string name, const char* status = "{}", const char* more = "") {
    auto made = Object::parse(std::string(R"({"metadata":{"namespace":")") + ns + R"(","name":")" + name + "\"" + more +
                              R"(},"status":)" + status + "}");
    REQUIRE(made);
    return *made;
  };
  CHECK(pods_in_words({}).empty());
  CHECK(pods_in_words({pod("demo", "done", R"({"phase":"Succeeded"})"),
                       pod("demo", "going", "{}", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"),
                       pod("kube-system", "proxy", "{}",
                           R"(,"ownerReferences":[{"kind":"DaemonSet","name":"proxy","uid":"u","controller":true}])")})
            .empty());
  CHECK(pods_in_words({pod("demo", "web-2"), pod("demo", "web-1"), pod("shop", "db")}) ==
        "demo (web-1, web-2), shop (db)");
  CHECK(pods_in_words({pod("a", "1"), pod("a", "2"), pod("a", "3"), pod("a", "4")}) == "a (1, 2, 3 and 1 more)");
  CHECK(pods_in_words({pod("a", "1"), pod("b", "1"), pod("c", "1"), pod("d", "1"), pod("e", "1"), pod("f", "1")}) ==
        "a (1), b (1), c (1), d (1), e (1) and in 1 more");
}

}  // namespace
