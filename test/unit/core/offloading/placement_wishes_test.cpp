#include "core/offloading/placement_wishes.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "core/offloading/shadow_pod_update.hpp"

namespace liqo::core {
namespace {
using namespace testing;
using Texts = std::vector<std::string>;

constexpr std::string_view preferred = "preferredDuringSchedulingIgnoredDuringExecution",
                           required = "requiredDuringSchedulingIgnoredDuringExecution";

json::object sent(std::string_view spec, std::string_view annotations = "{}") {
  const auto forged = forge_shadow_pod(local_pod("{}", spec, R"({"annotations": )" + std::string(annotations) + "}"),
                                       "shop-rome", context());
  REQUIRE(forged.has_value());
  CHECK(forged->dropped_fields.empty());
  return kube::object_at(forged->shadow.spec(), {"pod"});
}

json::value softened(std::string_view constraints) {
  json::object spec{{"topologySpreadConstraints", parse_value(constraints)}};
  soften_topology_spread(spec);
  return spec.at("topologySpreadConstraints");
}

json::value soft(std::string_view affinity) {
  return soft_pod_affinity(local_pod("{}", R"({"affinity": {"podAffinity": )" + std::string(affinity) + "}}"));
}

}  // namespace

TEST_CASE("what spreads a pod is a wish at the provider, whose API server takes it") {
  struct Row {
    std::string_view title, home, sent;
  };
  for (const Row& row : {
           Row{"a demand, with all that may stand beside it",
               R"([{"maxSkew": 1, "minDomains": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                    "nodeTaintsPolicy": "Honor", "nodeAffinityPolicy": "Ignore",
                    "labelSelector": {"matchLabels": {"app": "web"}}}])",
               R"([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
                    "nodeTaintsPolicy": "Honor", "nodeAffinityPolicy": "Ignore",
                    "labelSelector": {"matchLabels": {"app": "web"}}}])"},
           Row{"a wish", R"([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}])",
               R"([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}])"},
           Row{"a demand and a wish of one key: two wishes of it are refused",
               R"([{"maxSkew": 5, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
                   {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"},
                   {"maxSkew": 2, "topologyKey": "host", "whenUnsatisfiable": "DoNotSchedule"}])",
               R"([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"},
                   {"maxSkew": 2, "topologyKey": "host", "whenUnsatisfiable": "ScheduleAnyway"}])"},
           Row{"what no API server stores", R"([1, {"whenUnsatisfiable": 7}, "x"])",
               R"([1, {"whenUnsatisfiable": 7}, "x"])"},
           Row{"a value of a later Kubernetes", R"([{"topologyKey": "zone", "whenUnsatisfiable": "Later"}])",
               R"([{"topologyKey": "zone", "whenUnsatisfiable": "Later"}])"},
       }) {
    CAPTURE(row.title);
    CHECK(softened(row.home) == parse_value(row.sent));
  }
  json::object odd{{"topologySpreadConstraints", 7}};
  soften_topology_spread(odd);
  CHECK(odd.at("topologySpreadConstraints") == 7);
}

TEST_CASE("a ShadowPod has wishes, unless the pod says otherwise, and an older one stays as it is") {
  constexpr std::string_view spec =
      R"({"topologySpreadConstraints": [
            {"maxSkew": 1, "minDomains": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
          "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "host"}]}}})";
  const json::object wishes = sent(spec);
  CHECK(kube::array_at(wishes, {"topologySpreadConstraints"}) ==
        parse_value(R"([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}])").as_array());
  CHECK(json::value(kube::object_at(wishes, {"affinity", "podAffinity"})) ==
        parse_value(R"({"preferredDuringSchedulingIgnoredDuringExecution": [
          {"weight": 100, "podAffinityTerm": {"topologyKey": "host"}}]})"));
  const json::object kept = sent(spec, R"({"liqo.io/topology-spread": "keep", "liqo.io/pod-affinity": "keep"})");
  CHECK(kept.at("topologySpreadConstraints") == parse_value(spec).at("topologySpreadConstraints"));
  CHECK(kube::object_at(kept, {"affinity"}) == parse_value(spec).at("affinity").as_object());

  // The version before this one has sent what the pod says, and no pod affinity.
  const kube::Object home = local_pod("{}", spec);
  auto before = forge_shadow_pod(home, "shop-rome", context());
  REQUIRE(before.has_value());
  json::object& old = before->shadow.mutable_spec()["pod"].as_object();
  old["topologySpreadConstraints"] = home.spec().at("topologySpreadConstraints");
  old.erase("affinity");
  CHECK_FALSE(plan_shadow_pod_update(home, before->shadow, context()).has_value());
}

TEST_CASE("pods are near others as a wish, in the twin of their own namespace alone") {
  const std::string ns(local_pod().ns());
  const auto demand = [](const std::string& more) {
    return R"({"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector":
      {"matchLabels": {"app": "db"}})" +
           more + "}]}";
  };
  const json::value wish = parse_value(R"({"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100,
    "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}}]})");
  CHECK(soft(demand("")) == wish);
  CHECK(soft(demand(R"(, "namespaces": [])")) == wish);
  CHECK(soft(demand(R"(, "namespaces": ["else", ")" + ns + "\"]")) == wish);
  CHECK(soft(demand(R"(, "namespaces": ["else"])")) == json::value(json::object()));
  CHECK(soft(demand(R"(, "namespaceSelector": null)")) != json::value(json::object()));
  CHECK(soft(demand(R"(, "namespaceSelector": {}, "namespaces": [")" + ns + "\"]")) == json::value(json::object()));
  const json::value both = soft(R"({"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a"}, 7],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "podAffinityTerm": {"topologyKey": "b"}},
      {"weight": 4, "podAffinityTerm": {"topologyKey": "c", "namespaces": ["else"]}}, {"weight": 5}, 8]})");
  const json::array& terms = kube::array_at(both, {preferred});
  REQUIRE(terms.size() == 2);
  CHECK(kube::int_at(terms[0], {"weight"}) == 100);
  CHECK(kube::int_at(terms[1], {"weight"}) == 3);
  CHECK_FALSE(both.as_object().contains(required));
  for (const char* odd : {"7", "[]", "{}", R"({"requiredDuringSchedulingIgnoredDuringExecution": {}})"})
    CHECK(soft(odd) == json::value(json::object()));
}

TEST_CASE("home learns of the keys that it demanded and no node of the provider has, and of no others") {
  const json::object wishes = sent(R"({"topologySpreadConstraints": [
      {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
      {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"}],
    "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "host"}]}}})");
  CHECK(wished_topology_keys(wishes) == Texts{"host", "rack", "zone"});
  CHECK(wished_topology_keys({}).empty());

  const kube::Object home = local_pod("{}", R"({"topologySpreadConstraints": [
      {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
      {"topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"}],
    "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "host"}]}}})");
  for (const auto& [note, wanted] :
       {std::pair{"", Texts()}, std::pair{R"(["zone","host","zone"])", Texts{"zone", "host"}},
        std::pair{R"(["rack","nobody asked"])", Texts()}, std::pair{"[[", Texts()}}) {
    CAPTURE(note);
    kube::Object remote = local_pod();
    remote.set_annotation("offloading.liqo.io/missing-topology-keys", note);
    CHECK(unmet_topology_keys(home, remote) == wanted);
  }
}

}  // namespace liqo::core
