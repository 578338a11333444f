#include "core/offloading/waiting.hpp"

#include <doctest/doctest.h>

namespace liqo::core {
namespace {

namespace json = kube::json;

kube::Object object(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

/// A Ready virtual node of a cluster; `closed` is the value of its taint, "" = it is open.
kube::Object node(std::string_view name, std::string_view cluster, std::string_view closed) {
  json::array taints{
      json::object{{"key", "virtual-node.liqo.io/not-allowed"}, {"value", "true"}, {"effect", "NoExecute"}}};
  if (!closed.empty())
    taints.push_back(json::object{{"key", "virtual-node.liqo.io/closed"}, {"value", closed}, {"effect", "NoSchedule"}});
  kube::Object made = object(R"({"status":{"allocatable":{"cpu":"2","pods":"10"},
      "conditions":[{"type":"Ready","status":"True"}]}})");
  made.mutable_metadata()["name"] = name;
  made.mutable_spec()["taints"] = std::move(taints);
  made.set_label("liqo.io/type", "virtual-node");
  made.set_label("liqo.io/remote-cluster-id", cluster);
  return made;
}

/// A pod of an offloaded namespace that the scheduler has found no node for, changed by a merge of `change`.
kube::Object pod(std::string_view cpu = "1") {
  kube::Object made = object(R"({"metadata":{"name":"web","namespace":"demo"},"spec":{
      "tolerations":[{"key":"virtual-node.liqo.io/not-allowed","operator":"Exists","effect":"NoExecute"}],
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"liqo.io/type","operator":"In","values":["virtual-node"]}]}]}}}},
      "status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}})");
  made.mutable_spec()["containers"] =
      json::array{json::object{{"name", "a"}, {"resources", json::object{{"requests", json::object{{"cpu", cpu}}}}}}};
  return made;
}

json::object& asked_by(kube::Object& pod) {
  json::object& container = pod.mutable_spec()["containers"].as_array().front().as_object();
  return container["resources"].as_object()["requests"].as_object();
}

std::string awaited(const kube::Object& pod, const std::vector<kube::Object>& nodes) {
  const auto found = awaited_node(pod, nodes);
  return found ? found->cluster + "/" + found->name + "/" + found->why : "";
}

}  // namespace

TEST_CASE("a pod that could go nowhere but to a closed node waits for that") {
  const kube::Object batch = node("batch", "milan", "cordoned"), open = node("pool", "turin", "");
  CHECK(awaited(pod(), {batch}) == "milan/batch/cordoned");
  CHECK(awaited(pod(), {node("other", "turin", "denied"), batch}) == "turin/other/denied");
  // There is room elsewhere, as far as we know: something else keeps it.
  CHECK(awaited(pod(), {batch, open}) == "");
  CHECK(awaited(pod(), {open}) == "");
  CHECK(awaited(pod(), {}) == "");

  kube::Object chooses = pod();
  chooses.mutable_spec()["nodeSelector"] = json::object{{"liqo.io/remote-cluster-id", "milan"}};
  CHECK(awaited(chooses, {batch, open}) == "milan/batch/cordoned");
  chooses.mutable_spec()["nodeSelector"] = json::object{{"liqo.io/remote-cluster-id", "turin"}};
  CHECK(awaited(chooses, {batch}) == "");
}

TEST_CASE("what else keeps a pod is no wait for a closed node") {
  const kube::Object batch = node("batch", "milan", "cordoned");
  CHECK(awaited(pod("3"), {batch}) == "");  // it is larger than the node

  kube::Object changed = pod();
  changed.mutable_spec().erase("tolerations");
  CHECK(awaited(changed, {batch}) == "");
  changed = pod();
  changed.mutable_spec()["nodeName"] = "worker";
  CHECK(awaited(changed, {batch}) == "");
  changed = pod();
  changed.mutable_metadata()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  CHECK(awaited(changed, {batch}) == "");
  changed = pod();
  changed.mutable_status()["conditions"] =
      json::array{json::object{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "SchedulingGated"}}};
  CHECK(awaited(changed, {batch}) == "");
  changed.mutable_status().erase("conditions");
  CHECK(awaited(changed, {batch}) == "");
  // It may go to closed nodes, as whoever wrote it wants.
  changed = pod();
  changed.mutable_spec()["tolerations"] = json::array{json::object{{"operator", "Exists"}}};
  CHECK(awaited(changed, {batch}) == "");

  kube::Object silent = node("batch", "milan", "cordoned");
  silent.mutable_status()["conditions"] = json::array{json::object{{"type", "Ready"}, {"status", "False"}}};
  CHECK(awaited(pod(), {silent}) == "");
  kube::Object drained = node("batch", "milan", "cordoned");
  drained.mutable_spec()["unschedulable"] = true;
  CHECK(awaited(pod(), {drained}) == "");
  kube::Object kept = node("batch", "milan", "cordoned");
  kept.mutable_spec()["taints"].as_array().push_back(
      json::object{{"key", "team"}, {"value", "a"}, {"effect", "NoSchedule"}});
  CHECK(awaited(pod(), {kept}) == "");
  kept.mutable_spec()["taints"].as_array().back().as_object()["effect"] = "PreferNoSchedule";
  CHECK(awaited(pod(), {kept}) == "milan/batch/cordoned");
}

TEST_CASE("a node that does not name what the pod asks for would not take it") {
  kube::Object wants = pod();
  asked_by(wants)["nvidia.com/gpu"] = "1";
  const auto with_gpus = [](kube::Object made) {
    made.mutable_status()["allocatable"].as_object()["nvidia.com/gpu"] = "2";
    return made;
  };
  const kube::Object plain = node("batch", "milan", "cordoned"), open = node("pool", "turin", ""),
                     gpus = with_gpus(node("gpus", "milan", "full"));
  CHECK(awaited(wants, {plain}) == "");
  CHECK(awaited(wants, {plain, open, gpus}) == "milan/gpus/full");
  CHECK(awaited(wants, {gpus, with_gpus(open)}) == "");
  // What it asks nothing of does not count.
  kube::Object none = pod();
  asked_by(none)["nvidia.com/gpu"] = "0";
  CHECK(awaited(none, {plain}) == "milan/batch/cordoned");
}

TEST_CASE("nothing is said of a pod that asks for what only a scheduler knows") {
  const kube::Object batch = node("batch", "milan", "cordoned");
  const json::array terms{json::object{{"topologyKey", "zone"}}};
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    CAPTURE(kind);
    kube::Object beside = pod();
    beside.mutable_spec()["affinity"].as_object()[kind] =
        json::object{{"requiredDuringSchedulingIgnoredDuringExecution", terms}};
    CHECK(awaited(beside, {batch}) == "");
    beside.mutable_spec()["affinity"].as_object()[kind] =
        json::object{{"preferredDuringSchedulingIgnoredDuringExecution", terms}};
    CHECK(awaited(beside, {batch}) == "milan/batch/cordoned");
  }
  kube::Object spread = pod();
  spread.mutable_spec()["topologySpreadConstraints"] =
      json::array{json::object{{"topologyKey", "zone"}, {"whenUnsatisfiable", "DoNotSchedule"}}};
  CHECK(awaited(spread, {batch}) == "");
  spread.mutable_spec()["topologySpreadConstraints"].as_array().front().as_object()["whenUnsatisfiable"] =
      "ScheduleAnyway";
  CHECK(awaited(spread, {batch}) == "milan/batch/cordoned");
  kube::Object device = pod();
  device.mutable_spec()["resourceClaims"] = json::array{json::object{{"name", "gpu"}}};
  CHECK(awaited(device, {batch}) == "");
}

TEST_CASE("a pod that chooses its nodes by thousands of entries is not looked at") {
  const kube::Object batch = node("batch", "milan", "cordoned");
  const auto choosing = [](std::size_t values) {
    json::array names{"milan"};
    while (names.size() < values) names.emplace_back("n" + std::to_string(names.size()));
    const json::object expression{
        {"key", "liqo.io/remote-cluster-id"}, {"operator", "In"}, {"values", std::move(names)}};
    kube::Object made = pod();
    json::object& affinity = made.mutable_spec()["affinity"].as_object()["nodeAffinity"].as_object();
    affinity["requiredDuringSchedulingIgnoredDuringExecution"].as_object()["nodeSelectorTerms"] =
        json::array{json::object{{"matchExpressions", json::array{json::value(expression)}}}};
    return made;
  };
  CHECK(awaited(choosing(100), {batch}) == "milan/batch/cordoned");
  CHECK(awaited(choosing(1000), {batch}) == "");
  kube::Object tolerant = pod();
  json::array& tolerations = tolerant.mutable_spec()["tolerations"].as_array();
  const json::value toleration = tolerations.front();
  while (tolerations.size() < 1000) tolerations.push_back(toleration);
  CHECK(awaited(tolerant, {batch}) == "");
}

TEST_CASE("objects of any form are looked at") {
  CHECK(awaited(object(R"({"metadata":7,"spec":[],"status":{"conditions":[1]}})"), {node("a", "b", "full")}) == "");
  CHECK(awaited(pod(), {object(R"({"metadata":{"name":"x"},"spec":{"taints":[1,{"key":2}]},"status":[]})")}) == "");
}

TEST_CASE("the words name the cluster, the node and why") {
  const auto words = [](std::string why) { return closed_in_words({.name = "batch", .cluster = "milan", .why = why}); };
  CHECK(
      words("cordoned") ==
      "cluster milan has cordoned node batch: this pod waits until it is uncordoned there, or until another node takes "
      "it, if nothing else keeps it");
  CHECK(words("denied") ==
        "cluster milan has drained or denied the slice of node batch and grants it nothing any more: this pod waits "
        "until "
        "it grants something again, or until another node takes it, if nothing else keeps it; ask the operator of that "
        "cluster");
  CHECK(words("nothing-granted").contains("no cpu or no memory"));
  CHECK(words("full").contains("has no room left on node batch"));
  CHECK(words("silent") ==
        "Liqo does not run in cluster milan, which is behind node batch: this pod waits until it runs there again, or "
        "until another node takes it, if nothing else keeps it; ask the operator of that cluster");
  CHECK(words("of-a-newer-liqo")
            .starts_with("cluster milan takes no new pods on node batch at present (of-a-newer-liqo): "));
  CHECK(why_in_words({.name = "batch", .cluster = "milan", .why = "cordoned"}) ==
        "cluster milan has cordoned node batch");
  CHECK(words(std::string(10'000, 'x') + "\x1b").size() < 300);
}

}  // namespace liqo::core
