// The typed views of Liqo's kinds, on good and on broken objects.
#include <doctest/doctest.h>

#include "liqo/api/namespace_map.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::api {
namespace {

kube::Object parse(std::string_view text) {
  auto parsed = kube::Object::parse(text);
  REQUIRE(parsed.has_value());
  return std::move(*parsed);
}
kube::WallTime at(int seconds) { return *kube::parse_time("2026-11-21T10:00:00Z") + std::chrono::seconds(seconds); }

}  // namespace

TEST_CASE("a VirtualNode is read, with the defaults of what is absent") {
  const auto object = parse(R"({"metadata": {"name": "milan"}, "spec": {"clusterID": "m", "createNode": false,
    "disableNetworkCheck": true, "kubeconfigSecretRef": {"name": "kc"}, "offloadingPatch": {"labelsNotReflected": ["a", 1],
    "annotationsNotReflected": ["b"], "nodeSelector": {"x": "y"}, "tolerations": [{}], "affinity": {"nodeAffinity": {"z": 1}},
    "runtimeClassName": "kata"}}})");
  const VirtualNode node(object);
  CHECK(node.cluster_id() == "m");
  CHECK_FALSE(node.create_node());
  CHECK(node.disable_network_check());
  CHECK(node.kubeconfig_secret() == "kc");
  const auto patch = node.offloading_patch();
  CHECK(patch.labels_not_reflected == std::vector<std::string>{"a"});
  CHECK(patch.annotations_not_reflected == std::vector<std::string>{"b"});
  CHECK(patch.node_selector.contains("x"));
  CHECK(patch.tolerations.size() == 1);
  CHECK(patch.node_affinity.contains("z"));
  CHECK(patch.runtime_class == "kata");
  const auto empty = parse(R"({"metadata": {"name": "milan"}, "spec": []})");
  CHECK(VirtualNode(empty).create_node());
  CHECK_FALSE(VirtualNode(empty).disable_network_check());
  CHECK(VirtualNode(empty).hard().empty());
  CHECK(VirtualNode(empty).options_template().name.empty());
  const auto follows = parse(
      R"({"metadata": {"name": "x"}, "spec": {"vkOptionsTemplateRef": {"namespace": "liqo", "name": "strict"}}})");
  CHECK(VirtualNode(follows).options_template() == kube::ObjectKey{"liqo", "strict"});
}

TEST_CASE("of the classes that a VirtualNode names the default one counts, else the first") {
  const auto classes = [](const char* ingress, const char* balancer) {
    const auto object = parse(R"({"metadata": {"name": "milan"}, "spec": {"ingressClasses": )" + std::string(ingress) +
                              R"(, "loadBalancerClasses": )" + balancer + "}}");
    const VirtualNode node(object);
    return std::string(node.ingress_class()) + "," + std::string(node.load_balancer_class());
  };
  CHECK(classes("[]", "[]") == ",");
  CHECK(classes("3", "[3]") == ",");
  CHECK(classes(R"([{"ingressClassName": "a"}, {"ingressClassName": "b"}])",
                R"([{"loadBalancerClassName": "c"}, {"loadBalancerClassName": "d", "default": true}])") == "a,d");
}

TEST_CASE("a condition is set once, and duplicates of older writers go") {
  auto object = parse(R"({"metadata": {"name": "milan"}, "status": {"other": 1, "conditions": [
    {"type": "Node", "status": "Creating", "lastTransitionTime": "t0"}, {"type": "VirtualKubelet", "status": "Running"},
    {"type": "Node", "status": "Running", "lastTransitionTime": "t1"}, 7]}})");
  auto status = with_condition(object, {"Node", "Running", "R", "m"}, at(5));
  REQUIRE(status.has_value());
  CHECK(
      kube::json::serialize(*status) ==
      R"({"other":1,"conditions":[{"type":"Node","status":"Running","lastTransitionTime":"2026-11-21T10:00:05Z","reason":"R","message":"m"},)"
      R"({"type":"VirtualKubelet","status":"Running"}]})");
  object.mutable_status() = *status;
  CHECK_FALSE(with_condition(object, {"Node", "Running", "R", "m"}, at(9)).has_value());
  status = with_condition(object, {"Node", "Running", "R2", "m"}, at(9));
  REQUIRE(status.has_value());
  CHECK(kube::json::serialize(*status).find("10:00:05Z") != std::string::npos);
}

TEST_CASE("a NamespaceMap is read up to a limit") {
  const auto object = parse(
      R"({"metadata": {"name": "m"}, "status": {"currentMapping": {
    "a": {"remoteNamespace": "a-r", "phase": "Accepted"}, "b": {"remoteNamespace": "b-r", "phase": "Terminating"}, "c": 4}}})");
  const NamespaceMap map(object);
  const auto entries = map.current_mapping();
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].is_accepted());
  CHECK_FALSE(entries[1].is_accepted());
  CHECK(entries[2].remote == "");
  CHECK(map.current_mapping(1).size() == 1);
}

TEST_CASE("a ShadowPod without a recorded phase is Unknown") {
  const auto object = parse(R"({"metadata": {"name": "web"}})");
  CHECK(ShadowPod(object).phase() == "Unknown");
  CHECK_FALSE(ShadowPod(object).is_finished());
  const auto over = parse(
      R"({"metadata": {"name": "web", "annotations": {"offloading.liqo.io/local-pod-uid": "u1"}}, "status": {"phase": "Failed"}})");
  CHECK(ShadowPod(over).is_finished());
  CHECK(ShadowPod(over).local_pod_uid() == "u1");
}

}  // namespace liqo::api
