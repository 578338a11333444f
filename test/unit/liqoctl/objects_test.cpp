// From arguments to objects.
#include <doctest/doctest.h>

#include "model/objects.hpp"
#include "text/yaml.hpp"

namespace {

using namespace liqoctl::model;

TEST_CASE("a slice has the labels by which it is replicated") {
  const Object slice = resource_slice({.name = "gpu-pool",
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
  const Object bare = resource_slice({.name = "s", .ns = "n", .provider = "p", .create_virtual_node = false});
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
  CHECK(json::serialize(virtual_node(request).spec()) ==
        R"({"clusterID":"p","createNode":true,"disableNetworkCheck":false,"kubeconfigSecretRef":{"name":"k"},)"
        R"("resourceQuota":{"hard":{"cpu":"2"}},"labels":{"region":"south"},)"
        R"("storageClasses":[{"storageClassName":"b","default":true},{"storageClassName":"a"}]})");
  CHECK(virtual_node(request).label("liqo.io/resourceslice-name") == "s");
}

TEST_CASE("selectors of one offloading are alternatives, the requirements of each hold together") {
  const auto made = namespace_offloading({.ns = "demo", .cluster_selectors = {"region=south,gpu", "region=north"}});
  REQUIRE(made);
  CHECK(made->name() == "offloading");
  CHECK(
      json::serialize(made->spec()) ==
      R"({"clusterSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"region","operator":"In","values":["south"]},)"
      R"({"key":"gpu","operator":"Exists"}]},{"matchExpressions":[{"key":"region","operator":"In","values":["north"]}]}]},)"
      R"("namespaceMappingStrategy":"DefaultName","podOffloadingStrategy":"LocalAndRemote"})");
  CHECK(json::serialize(namespace_offloading({.ns = "demo"})->spec()) ==
        R"({"namespaceMappingStrategy":"DefaultName","podOffloadingStrategy":"LocalAndRemote"})");
  CHECK_FALSE(namespace_offloading({.ns = "demo", .cluster_selectors = {"a in b"}}));
}

TEST_CASE("pairs are split at commas") {
  CHECK(json::serialize(*pairs({"a=b,c=d", "e="}, "--labels")) == R"({"a":"b","c":"d","e":""})");
  for (const char* wrong : {"a", "=b", "a=b,c"}) {
    CAPTURE(wrong);
    CHECK_FALSE(pairs({wrong}, "--labels"));
  }
}

}  // namespace
