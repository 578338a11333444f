// The fields of a pod that have no effect at its provider, or another one, and how that is reported.
#include "core/offloading/dropped_fields.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"

namespace liqo::core {
namespace {
using namespace testing;
using Names = std::vector<std::string>;

ForgedShadowPod forge(std::string_view spec) {
  const ForgingContext context{.clusters = {"rome", "milan"}, .node_name = "milan"};
  auto forged = forge_shadow_pod(local_pod("{}", spec), "shop-rome", context);
  REQUIRE(forged);
  return std::move(*forged);
}

std::string told(std::string_view spec) {
  const ForgedShadowPod forged = forge(spec);
  return describe_dropped_fields(forged, forged.shadow, "milan");
}

}  // namespace

TEST_CASE("fields that are not sent are told, each once, and those of a gang among them") {
  const struct {
    std::string_view spec, words;
  } cases[] = {
      {"{}", ""},
      {R"({"schedulingGroup": {"podGroupName": "gang"}})", "schedulingGroup"},
      {R"({"workloadRef": {"name": "w", "podGroup": "gang"}})", "workloadRef"},
      {R"({"evictionResponders": [{"name": "acme.io/saver", "priority": 1}]})", "evictionResponders"},
      {R"({"hostPID": true, "overhead": {"cpu": "1"}, "hostnameOverride": "h"})",
       "hostPID, overhead, hostnameOverride"},
      {R"({"fieldOfTomorrow": {"a": 1}, "another": true})", "fieldOfTomorrow, another"},
      {R"({"fieldOfTomorrow": false, "another": 0})", "fieldOfTomorrow, another"},
      {R"({"fieldOfTomorrow": null, "another": {}})", ""},
      // What is home's own business, or reaches the provider in another way.
      {R"({"affinity": {"nodeAffinity": {}}, "nodeSelector": {"a": "b"}, "priorityClassName": "high", "priority": 5,
           "preemptionPolicy": "Never", "serviceAccountName": "robot", "serviceAccount": "robot", "schedulerName": "mine",
           "readinessGates": [{"conditionType": "x"}], "tolerations": [{"key": "virtual-node.liqo.io/not-allowed"}],
           "runtimeClassName": "liqo", "automountServiceAccountToken": true,
           "ephemeralContainers": [{"name": "debugger"}]})",
       ""},
      {R"({"schedulingGroup": {}, "evictionResponders": [], "os": null})", ""},
  };
  for (const auto& each : cases) {
    CAPTURE(each.spec);
    const std::string expected =
        each.words.empty() ? "" : "these fields have no effect in cluster milan: " + std::string(each.words);
    CHECK(told(each.spec) == expected);
    for (const std::string_view field : {"schedulingGroup", "workloadRef", "evictionResponders"})
      CHECK_FALSE(kube::object_at(forge(each.spec).shadow.spec(), {"pod"}).contains(field));
  }
}

TEST_CASE("what the provider's signers and trust bundles fill is sent, and told") {
  constexpr std::string_view spec = R"({"os": {"name": "linux"}, "volumes": [{"name": "a", "emptyDir": {}},
    {"name": "b", "projected": {"sources": [{"configMap": {"name": "c"}}, {"podCertificate": {"signerName": "s"}},
                                            {"clusterTrustBundle": {"name": "ca", "path": "p"}}]}}]})";
  CHECK(forge(spec).foreign_fields ==
        Names{"volumes[1].projected.sources[1].podCertificate", "volumes[1].projected.sources[2].clusterTrustBundle"});
  CHECK(told(spec) ==
        "these would hold certificates and trust bundles of cluster milan, not of home: "
        "volumes[1].projected.sources[1].podCertificate, volumes[1].projected.sources[2].clusterTrustBundle; these "
        "fields have no effect in cluster milan: os");
  CHECK(kube::array_at(forge(spec).shadow.spec(), {"pod", "volumes"}).size() == 2);
}

TEST_CASE("fields that the provider did not store are told, whatever its version knows") {
  const ForgedShadowPod forged = forge(R"({"os": {"name": "linux"}, "hostUsers": false,
    "volumes": [{"name": "v", "emptyDir": {"mode": 448}}]})");
  kube::Object created = forged.shadow;
  json::object& pod = created.mutable_spec()["pod"].as_object();
  pod.erase("hostUsers");
  pod["volumes"].as_array().at(0).as_object()["emptyDir"].as_object().erase("mode");
  CHECK(describe_dropped_fields(forged, created, "milan") ==
        "these fields have no effect in cluster milan: os, volumes[0].emptyDir.mode, hostUsers");
}

TEST_CASE("a token of home that somebody is to own is owned by them") {
  ForgingContext context{.clusters = {"rome", "milan"}, .node_name = "milan"};
  context.api_server_mode = ApiServerMode::always;
  const auto forged = forge_shadow_pod(local_pod("{}", R"({"volumes": [{"name": "t", "projected": {"sources": [
        {"serviceAccountToken": {"path": "token", "user": 65534}}, {"serviceAccountToken": {"path": "other"}}]}}]})"),
                                       "shop-rome", context);
  REQUIRE(forged);
  const json::array& sources =
      kube::array_at(kube::array_at(forged->shadow.spec(), {"pod", "volumes"}).at(0), {"projected", "sources"});
  REQUIRE(sources.size() == 2);
  CHECK(kube::int_at(kube::array_at(sources.at(0), {"secret", "items"}).at(0), {"user"}) == 65534);
  CHECK_FALSE(kube::array_at(sources.at(1), {"secret", "items"}).at(0).as_object().contains("user"));
}

}  // namespace liqo::core
