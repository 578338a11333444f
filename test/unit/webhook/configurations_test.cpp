#include "webhook/configurations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/reflection/kind.hpp"
#include "kube/base/base64.hpp"

using namespace liqo::webhook;
namespace json = kube::json;

TEST_CASE(
    "every webhook but those of changed tolerations and of policies fails closed, is called by v1, and is never asked "
    "about deletions") {
  std::set<std::string> names;
  std::set<std::string> paths;
  for (const kube::Resource& kind : {mutating_configurations, validating_configurations}) {
    const kube::Object made = forge_configuration(kind, {.url = "", .ns = "liqo"}, "PEM");
    CHECK(made.name() == "liqo-webhook");
    CHECK(made.label("liqo.io/webhook") == "true");
    CHECK(kube::array_at(made.tree(), {"webhooks"}).size() >= 5);
    for (const json::value& hook : kube::array_at(made.tree(), {"webhooks"})) {
      CAPTURE(json::serialize(hook));
      const std::string_view name = kube::string_at(hook, {"name"});
      const bool may_fail = name == "update.pod.mutate.liqo.io" || name == "namespace.validate.liqo.io";
      CHECK(kube::string_at(hook, {"failurePolicy"}) == (may_fail ? "Ignore" : "Fail"));
      CHECK(kube::array_at(hook, {"admissionReviewVersions"}) == json::array{"v1"});
      CHECK(kube::decode_base64(kube::string_at(hook, {"clientConfig", "caBundle"})).value() == "PEM");
      CHECK(kube::string_at(hook, {"clientConfig", "service", "namespace"}) == "liqo");
      CHECK(kube::int_at(hook, {"clientConfig", "service", "port"}) == 9443);
      CHECK(kube::string_at(hook, {"name"}).ends_with(".liqo.io"));
      names.emplace(kube::string_at(hook, {"name"}));
      paths.emplace(kube::string_at(hook, {"clientConfig", "service", "path"}));
      for (const json::value& rule : kube::array_at(hook, {"rules"}))
        for (const json::value& operation : kube::array_at(rule, {"operations"})) CHECK(operation != "DELETE");
      const bool reserves = kube::string_at(hook, {"name"}).ends_with("shadowpod.validate.liqo.io");
      CHECK(kube::string_at(hook, {"sideEffects"}) == (reserves ? "NoneOnDryRun" : "None"));
    }
  }
  CHECK(names.size() == paths.size() + 3);
  CHECK(paths.size() == 22);
}

TEST_CASE("what a consumer writes of a reflected kind is reviewed, once for its size") {
  const kube::Object made = forge_configuration(validating_configurations, {.url = "", .ns = "liqo"}, "PEM");
  for (const liqo::core::reflection::ReflectedKind* kind : liqo::core::reflection::reflected_kinds()) {
    const kube::Resource& copies = kind->copies();
    CAPTURE(copies.plural);
    int reviews = 0;
    for (const json::value& hook : kube::array_at(made.tree(), {"webhooks"}))
      for (const json::value& rule : kube::array_at(hook, {"rules"}))
        if (kube::array_at(rule, {"apiGroups"}) == json::array{json::string(copies.group)} &&
            kube::array_at(rule, {"apiVersions"}) == json::array{json::string(copies.version)} &&
            kube::array_at(rule, {"resources"}) == json::array{json::string(copies.plural)} &&
            kube::array_at(rule, {"operations"}) == json::array{"CREATE", "UPDATE"})
          ++reviews;
    CHECK(reviews == 1);
  }
}

TEST_CASE("what is being deleted loses its finalizers unasked, where nothing else changes and no consumer asks") {
  std::size_t conditional = 0;
  std::set<std::string> of_consumers, decided;
  for (const kube::Resource& kind : {mutating_configurations, validating_configurations}) {
    const kube::Object made = forge_configuration(kind, {.url = "", .ns = "liqo"}, "PEM");
    for (const json::value& hook : kube::array_at(made.tree(), {"webhooks"})) {
      CAPTURE(kube::string_at(hook, {"name"}));
      const json::array& operations = kube::array_at(kube::array_at(hook, {"rules"})[0], {"operations"});
      const bool updates = std::ranges::find(operations, json::value("UPDATE")) != operations.end();
      const json::array& conditions = kube::array_at(hook, {"matchConditions"});
      CHECK(conditions.size() == (updates ? 1 : 0));
      // The objects that consumers create most often must not wait for an expression.
      if (kube::string_at(hook, {"name"}).starts_with("shadowpod.")) CHECK(operations == json::array{"CREATE"});
      if (!updates) continue;
      ++conditional;
      const std::string_view expression = kube::string_at(conditions[0], {"expression"});
      if (kube::string_at(conditions[0], {"name"}) == "of-a-consumer") {
        of_consumers.emplace(kube::string_at(hook, {"name"}));
        CHECK(expression.starts_with("!(request.userInfo.username.contains(':')"));
        CHECK_FALSE(kube::object_at(hook, {"namespaceSelector"}).empty());
        continue;
      }
      if (kube::string_at(conditions[0], {"name"}) == "what-is-decided-here") {
        decided.emplace(kube::string_at(hook, {"name"}));
        CHECK(expression.contains("object.spec.t"));
        continue;
      }
      for (const char* part :
           {"has(oldObject.metadata.deletionTimestamp)", "object.spec == oldObject.spec",
            "object.status == oldObject.status", "object.metadata.labels == oldObject.metadata.labels",
            "object.metadata.annotations == oldObject.metadata.annotations", "request.userInfo.username.contains(':')",
            "g != 'system:authenticated'"})
        CHECK(expression.contains(part));
    }
  }
  CHECK(conditional == 21);
  CHECK(decided == std::set<std::string>{"daemonset.mutate.liqo.io", "update.pod.mutate.liqo.io"});
  CHECK(of_consumers == std::set<std::string>{"poddisruptionbudget.validate.liqo.io",
                                              "shadowendpointslice.validate.liqo.io", "twin-object.validate.liqo.io"});
}

TEST_CASE("namespaces are asked about where some are selected, and those only") {
  const auto hook_of = [](const Reach& reach) -> std::optional<json::value> {
    for (const json::value& hook :
         kube::array_at(forge_configuration(mutating_configurations, reach, "PEM").tree(), {"webhooks"}))
      if (kube::string_at(hook, {"name"}) == "namespace.mutate.liqo.io") return hook;
    return std::nullopt;
  };
  CHECK_FALSE(hook_of({.url = "", .ns = "liqo"}));
  const json::array wanted{json::object{{"key", "team"}, {"operator", "In"}, {"values", json::array{"ml"}}}};
  const auto hook = hook_of({.url = "", .ns = "liqo", .selected_namespaces = wanted});
  REQUIRE(hook);
  CHECK(kube::array_at(*hook, {"objectSelector", "matchExpressions"}) == wanted);
  CHECK(kube::string_at(*hook, {"clientConfig", "service", "path"}) == "/mutate/namespaces");
  CHECK(json::serialize(kube::array_at(*hook, {"rules"})[0].at("operations")) == R"(["CREATE"])");
}

TEST_CASE("of namespaces those of tenants are asked about, whoever writes them") {
  const kube::Object made = forge_configuration(validating_configurations, {.url = "", .ns = "liqo"}, "PEM");
  const json::array& hooks = kube::array_at(made.tree(), {"webhooks"});
  const auto hook = std::ranges::find_if(
      hooks, [](const json::value& one) { return kube::string_at(one, {"name"}) == "namespace.validate.liqo.io"; });
  REQUIRE(hook != hooks.end());
  CHECK(json::serialize(kube::object_at(*hook, {"objectSelector"})) ==
        R"({"matchExpressions":[{"key":"liqo.io/tenant-namespace","operator":"Exists"}]})");
  CHECK(kube::string_at(*hook, {"clientConfig", "service", "path"}) == "/validate/namespaces");
  CHECK(json::serialize(kube::array_at(*hook, {"rules"})[0].at("operations")) == R"(["CREATE","UPDATE"])");
}

TEST_CASE("tenants cannot skip what holds them in bounds") {
  for (const kube::Resource& kind : {mutating_configurations, validating_configurations}) {
    const kube::Object made = forge_configuration(kind, {.url = "", .ns = "liqo"}, "PEM");
    for (const json::value& hook : kube::array_at(made.tree(), {"webhooks"})) {
      const std::string_view name = kube::string_at(hook, {"name"});
      for (std::string_view kept :
           {"shadowpod.", "resourceslice.", "tenant.", "namespacemap.", "renew.", "quota.", "secret.", "service.",
            "ingress.", "persistentvolumeclaim.", "poddisruptionbudget.", "twin-object.", "shadowendpointslice."})
        if (name.starts_with(kept)) CHECK(kube::object_at(hook, {"objectSelector"}).empty());
    }
  }
}

TEST_CASE(
    "of pods and DaemonSets only those of offloaded namespaces are asked about, and never those that Liqo itself "
    "stands on") {
  const kube::Object made = forge_configuration(mutating_configurations, {.url = "", .ns = "liqo-system"}, "PEM");
  std::size_t seen = 0;
  for (const json::value& hook : kube::array_at(made.tree(), {"webhooks"})) {
    const json::object& selector = kube::object_at(hook, {"namespaceSelector"});
    const std::string_view name = kube::string_at(hook, {"name"});
    if (name != "pod.mutate.liqo.io" && name != "update.pod.mutate.liqo.io" && name != "daemonset.mutate.liqo.io") {
      CHECK(selector.empty());
      continue;
    }
    ++seen;
    CHECK(json::value(selector) == json::parse(R"({"matchExpressions":[
      {"key":"liqo.io/scheduling-enabled","operator":"In","values":["true"]},
      {"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system","liqo-system"]}]})"));
  }
  CHECK(seen == 3);
}

TEST_CASE("of Secrets, those in namespaces of peers are asked about when they are new, and no others") {
  const kube::Object made = forge_configuration(validating_configurations, {.url = "", .ns = "liqo"}, "PEM");
  for (const json::value& hook : kube::array_at(made.tree(), {"webhooks"})) {
    if (kube::string_at(hook, {"name"}) != "secret.validate.liqo.io") continue;
    CHECK(json::serialize(kube::object_at(hook, {"namespaceSelector"})) ==
          R"({"matchExpressions":[{"key":"liqo.io/remote-cluster-id","operator":"Exists"}]})");
    CHECK(json::serialize(kube::array_at(hook, {"rules"})) ==
          R"([{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["secrets"],"scope":"*"}])");
    return;
  }
  FAIL("there is no webhook for Secrets");
}

TEST_CASE("by URL no Service is named") {
  const kube::Object made =
      forge_configuration(mutating_configurations, {.url = "https://1.2.3.4:9443", .ns = "liqo"}, "P");
  const json::value& first = kube::array_at(made.tree(), {"webhooks"}).at(0);
  CHECK(kube::string_at(first, {"clientConfig", "url"}) == "https://1.2.3.4:9443/mutate/pod");
  CHECK(kube::find(first, {"clientConfig", "service"}) == nullptr);
}

TEST_CASE(
    "of Services and Ingresses, those in namespaces of peers are asked about, and neither their status nor others") {
  const kube::Object made = forge_configuration(validating_configurations, {.url = "", .ns = "liqo"}, "PEM");
  std::size_t seen = 0;
  for (const json::value& hook : kube::array_at(made.tree(), {"webhooks"})) {
    const std::string_view name = kube::string_at(hook, {"name"});
    if (name != "service.validate.liqo.io" && name != "ingress.validate.liqo.io") continue;
    ++seen;
    CHECK(json::serialize(kube::object_at(hook, {"namespaceSelector"})) ==
          R"({"matchExpressions":[{"key":"liqo.io/remote-cluster-id","operator":"Exists"}]})");
    const bool is_service = name.starts_with("service");
    CHECK(json::serialize(kube::array_at(hook, {"rules"})) ==
          R"([{"apiGroups":[")" + std::string(is_service ? "" : "networking.k8s.io") +
              R"("],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":[")" +
              (is_service ? "services" : "ingresses") + R"("],"scope":"*"}])");
  }
  CHECK(seen == 2);
}
TEST_CASE("what becomes of requests while nobody answers is the operator's to say") {
  for (const char* policy : {"Fail", "Ignore"}) {
    const kube::Object made =
        forge_configuration(validating_configurations, {.url = "", .ns = "liqo", .failure_policy = policy}, "PEM");
    for (const auto& hook : kube::array_at(made.tree(), {"webhooks"})) {
      // Namespaces have no owner, and an unreadable policy binds all the more.
      const bool is_namespace = kube::string_at(hook, {"name"}) == "namespace.validate.liqo.io";
      CHECK(kube::string_at(hook, {"failurePolicy"}) == (is_namespace ? "Ignore" : policy));
    }
  }
}
