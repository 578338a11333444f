// Twin namespaces at the provider: made, taken over, refused; and what a hostile NamespaceMap gets.
#include "core/namespaces/twin_plan.hpp"

#include "../binding_plan_text.hpp"
#include "twins.hpp"

namespace liqo::core {
namespace {

using namespace testing;

/// A namespace that was made for that map, with `labels` and `annotations` (JSON objects) in place of some.
kube::Object twin(std::string_view labels = "{}", std::string_view annotations = "{}", bool deleting = false) {
  kube::Object object = parse(R"({"metadata": {"name": "shop-rome", "uid": "n1", "resourceVersion": "7",
    "labels": {"liqo.io/remote-cluster-id": "rome", "pod-security.kubernetes.io/enforce": "baseline"},
    "annotations": {"liqo.io/managed-by-namespace-map": "liqo-tenant-rome/milan", "liqo.io/original-name": "shop"}}})");
  const auto change = [&object](std::string_view field, std::string_view text) {
    json::object& into = kube::ensure_object(object.mutable_metadata(), field);
    const json::value parsed = parse_value(text);
    for (const auto& [key, value] : parsed.get_object()) {
      if (value.is_null())
        into.erase(key);
      else
        into[key] = value;
    }
  };
  change("labels", labels);
  change("annotations", annotations);
  if (deleting) object.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  return object;
}

std::string outcome(const TwinPlan& plan) {
  using namespace twin_action;
  if (std::holds_alternative<Refuse>(plan)) return "refuse";
  if (std::holds_alternative<Create>(plan)) return "create";
  if (const auto* due = std::get_if<Patch>(&plan)) return "patch " + json::serialize(due->patch.at("metadata"));
  return std::holds_alternative<AwaitEnd>(plan) ? "wait" : "keep";
}

kube::Object incoming(std::string_view spec = "{}", std::string_view labels = "{}") {
  kube::Object map = parse(R"({"metadata": {"name": "milan", "namespace": "liqo-tenant-rome", "resourceVersion": "3",
    "labels": {"liqo.io/replicated": "true", "liqo.io/originID": "rome"}}})");
  map.mutable_spec() = parse_value(spec).get_object();
  for (const auto& [key, value] : parse_value(labels).get_object())
    map.set_label(key, std::string_view(value.get_string()));
  return map;
}

}  // namespace

TEST_CASE("a wanted twin is made, kept, completed, awaited or refused") {
  struct Case {
    const char* title;
    std::optional<kube::Object> existing;
    const char* expected;
    api::WantedNamespace wanted = {"shop", "shop-rome"};
  };
  const Case cases[] = {
      {"absent", {}, "create"},
      {"ours", twin(), "keep"},
      {"ours, with labels of others", twin(R"({"team": "x"})"), "keep"},
      {"ours, without labels",
       twin(R"({"liqo.io/remote-cluster-id": null, "pod-security.kubernetes.io/enforce": null})"),
       R"(patch {"labels":{"liqo.io/remote-cluster-id":"rome","pod-security.kubernetes.io/enforce":"baseline"},"resourceVersion":"7"})"},
      {"ours, at another level", twin(R"({"pod-security.kubernetes.io/enforce": "privileged"})"),
       R"(patch {"labels":{"pod-security.kubernetes.io/enforce":"baseline"},"resourceVersion":"7"})"},
      {"ours, without the original name", twin("{}", R"({"liqo.io/original-name": null})"),
       R"(patch {"annotations":{"liqo.io/original-name":"shop"},"resourceVersion":"7"})"},
      {"ours, going", twin("{}", "{}", true), "wait"},
      {"ours, the twin of another namespace", twin("{}", R"({"liqo.io/original-name": "mail"})"), "refuse"},
      {"somebody's", twin("{}", R"({"liqo.io/managed-by-namespace-map": null})"), "refuse"},
      {"of another tenant", twin("{}", R"({"liqo.io/managed-by-namespace-map": "liqo-tenant-turin/milan"})"), "refuse"},
      {"of another map", twin("{}", R"({"liqo.io/managed-by-namespace-map": "liqo-tenant-rome/other"})"), "refuse"},
      {"marked, but of another cluster", twin(R"({"liqo.io/remote-cluster-id": "turin"})"), "refuse"},
      {"a tenant namespace", twin(R"({"liqo.io/tenant-namespace": "true"})"), "refuse"},
      {"somebody's, going", twin("{}", R"({"liqo.io/managed-by-namespace-map": null})", true), "refuse"},
      {"a system namespace", {}, "refuse", {"shop", "kube-system"}},
      {"Liqo's own", {}, "refuse", {"shop", "liqo"}},
      {"a tenant namespace to be", {}, "refuse", {"shop", "liqo-tenant-turin"}},
      {"no name", {}, "refuse", {"shop", "Not a name"}},
      {"a name that is free, and not the consumer's", {}, "refuse", {"shop", "cert-manager"}},
      {"ours, of a name that would not be given any more",
       twin(R"({"liqo.io/remote-cluster-id": "rome"})"),
       "keep",
       {"shop", "chosen"}},
      {"for no name", {}, "refuse", {"../shop", "shop-rome"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    CHECK(outcome(plan_twin(c.wanted, c.existing ? &*c.existing : nullptr, ctx())) == c.expected);
  }
}

TEST_CASE("a twin says whether the owners of what is in it are checked, only after that was so once") {
  TwinContext checking = ctx();
  checking.checks_owners = true;
  const auto found = [](const TwinPlan& plan) { return outcome(plan); };
  const kube::Object before = twin();
  CHECK(found(plan_twin({"shop", "shop-rome"}, &before, ctx())) == "keep");
  CHECK(found(plan_twin({"shop", "shop-rome"}, &before, checking)) ==
        R"(patch {"annotations":{"offloading.liqo.io/checks-owners":"true"},"resourceVersion":"7"})");
  const kube::Object after = twin("{}", R"({"offloading.liqo.io/checks-owners": "true"})");
  CHECK(found(plan_twin({"shop", "shop-rome"}, &after, checking)) == "keep");
  // The webhooks were switched off, or may fail.
  CHECK(found(plan_twin({"shop", "shop-rome"}, &after, ctx())) ==
        R"(patch {"annotations":{"offloading.liqo.io/checks-owners":"false"},"resourceVersion":"7"})");
  const auto made = plan_twin({"shop", "shop-rome"}, nullptr, checking);
  const auto* create = std::get_if<twin_action::Create>(&made);
  REQUIRE(create);
  CHECK(create->twin.annotation("offloading.liqo.io/checks-owners") == "true");
}

TEST_CASE("a twin says whether disruption budgets hold in it, only after they did once") {
  TwinContext holding = ctx();
  holding.holds_budgets = true;
  const kube::Object before = twin();
  CHECK(outcome(plan_twin({"shop", "shop-rome"}, &before, holding)) ==
        R"(patch {"annotations":{"offloading.liqo.io/holds-budgets":"true"},"resourceVersion":"7"})");
  const kube::Object after = twin("{}", R"({"offloading.liqo.io/holds-budgets": "true"})");
  CHECK(outcome(plan_twin({"shop", "shop-rome"}, &after, holding)) == "keep");
  CHECK(outcome(plan_twin({"shop", "shop-rome"}, &after, ctx())) ==
        R"(patch {"annotations":{"offloading.liqo.io/holds-budgets":"false"},"resourceVersion":"7"})");
}

TEST_CASE("a new twin says whose it is and what it is the twin of") {
  const auto plan = plan_twin({"shop", "shop-rome"}, nullptr, ctx());
  const auto* create = std::get_if<twin_action::Create>(&plan);
  REQUIRE(create);
  CHECK(
      create->twin.text() ==
      R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop-rome","labels":{"liqo.io/remote-cluster-id":"rome",)"
      R"("pod-security.kubernetes.io/enforce":"baseline"},"annotations":{"liqo.io/managed-by-namespace-map":)"
      R"("liqo-tenant-rome/milan","liqo.io/original-name":"shop"}}})");
  CHECK(std::holds_alternative<twin_action::Keep>(plan_twin({"shop", "shop-rome"}, &create->twin, ctx())));
}

TEST_CASE("the RoleBinding of a twin is made, corrected, and never taken from somebody else") {
  const kube::Object made = forge_twin_binding("shop-rome", ctx());
  CHECK(
      made.text() ==
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"liqo-tenant-rome",)"
      R"("namespace":"shop-rome","labels":{"app.kubernetes.io/managed-by":"liqo","liqo.io/remote-cluster-id":"rome"},)"
      R"("annotations":{"liqo.io/managed-by-namespace-map":"liqo-tenant-rome/milan"}},"subjects":[{)"
      R"("apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"rome"}],"roleRef":{)"
      R"("apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"liqo-virtual-kubelet-remote"}})");
  const auto outcome_of = [](const kube::Object* existing) {
    return text_of(plan_twin_binding("shop-rome", existing, ctx()));
  };
  CHECK(outcome_of(nullptr) == "create");
  CHECK(outcome_of(&made) == "keep");

  kube::Object changed = made;
  changed.mutable_metadata()["resourceVersion"] = "4";
  changed.tree()["subjects"].as_array().push_back(json::object{{"kind", "User"}, {"name", "eve"}});
  CHECK(outcome_of(&changed) == R"(patch {"metadata":{"resourceVersion":"4"},"subjects":[{)"
                                R"("apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"rome"}]})");
  changed = made;
  changed.tree()["roleRef"].as_object()["name"] = "cluster-admin";
  CHECK(outcome_of(&changed) == "replace");
  changed.mutable_metadata().erase("annotations");
  CHECK(outcome_of(&changed) == "refuse");
  changed = made;
  changed.mutable_metadata().erase("annotations");
  CHECK(outcome_of(&changed).starts_with("patch {\"metadata\":{\"annotations\""));
}

TEST_CASE("a map is of the consumer whose tenant namespace it is in") {
  const auto tenant = parse(R"({"metadata": {"name": "liqo-tenant-rome",
    "labels": {"liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "rome"}}})");
  auto unmarked = tenant;
  unmarked.mutable_metadata()["labels"].as_object().erase("liqo.io/tenant-namespace");
  auto nobodys = tenant;
  nobodys.mutable_metadata()["labels"].as_object().erase("liqo.io/remote-cluster-id");
  const auto honest = incoming();
  const auto forged = incoming("{}", R"({"liqo.io/originID": "turin"})");
  const auto broken = incoming("{}", R"({"liqo.io/originID": "system:masters"})");
  CHECK(*check_origin(api::NamespaceMap(honest), &tenant) == "rome");
  CHECK(check_origin(api::NamespaceMap(forged), &tenant).error().text() ==
        "it claims to come from cluster turin, but this is the tenant namespace of rome; nothing is made for it");
  CHECK_FALSE(check_origin(api::NamespaceMap(broken), &tenant));
  CHECK_FALSE(check_origin(api::NamespaceMap(honest), &unmarked));
  CHECK_FALSE(check_origin(api::NamespaceMap(honest), &nobodys));
  CHECK_FALSE(check_origin(api::NamespaceMap(honest), nullptr));
}

TEST_CASE("the Pod Security level of twins is the tenant namespace's to say") {
  const auto level = [](std::string_view annotation) {
    kube::Object tenant = parse(R"({"metadata": {"name": "liqo-tenant-rome"}})");
    if (!annotation.empty()) tenant.set_annotation("offloading.liqo.io/twin-pod-security", annotation);
    auto asked = twin_pod_security(tenant);
    return asked ? *asked : "failure";
  };
  CHECK(level("") == "baseline");
  CHECK(level("privileged") == "privileged");
  CHECK(level("restricted") == "restricted");
  CHECK(level("Privileged") == "failure");
}

TEST_CASE("one twin for each name, those that exist first, and not without end") {
  const auto names = [](const TwinSelection& selection) {
    std::string text;
    for (const auto& entry : selection.taken) text += entry.local + ">" + entry.remote + " ";
    text += "|";
    for (const auto& [local, entry] : selection.refused) text += " " + local;
    return text + " +" + std::to_string(selection.left_out);
  };
  const auto map = incoming(R"({"desiredMapping": {"d": "w", "c": "z", "b": "x", "a": "x", "e": 3}})");
  CHECK(names(select_twins(api::NamespaceMap(map), {})) == "a>x c>z d>w | b +0");
  auto of_b = twin("{}", R"({"liqo.io/original-name": "b"})");
  of_b.mutable_metadata()["name"] = "x";
  const std::vector<kube::Object> twins{of_b};
  CHECK(names(select_twins(api::NamespaceMap(map), twins)) == "b>x c>z d>w | a +0");
  CHECK(names(select_twins(api::NamespaceMap(map), twins, 0, 1)) == "b>x | a +2");
  // What other maps of the consumer have counts, and takes nothing away that exists.
  CHECK(names(select_twins(api::NamespaceMap(map), twins, 2, 4)) == "b>x c>z | a d +0");
  CHECK(names(select_twins(api::NamespaceMap(map), twins, 9, 4)) == "b>x | a c d +0");
}

TEST_CASE("the status holds what is, and only a difference is written") {
  kube::Object map = incoming();
  map.mutable_status() = parse_value(R"({"currentMapping": {"gone": {"remoteNamespace": "g", "phase": "Terminating"},
    "kept": {"remoteNamespace": "k", "phase": "Accepted"}, "cured": {"remoteNamespace": "c", "phase": "CreationLoopBackOff",
    "message": "why"}}})")
                             .get_object();
  const std::map<std::string, api::MappedNamespace> wanted{
      {"kept", {"kept", "k", "Accepted", ""}},
      {"cured", {"cured", "c", "Accepted", ""}},
      {"new", {"new", "n", "CreationLoopBackOff", std::string(1000, 'x')}}};
  const auto patch = plan_map_status(map, wanted);
  REQUIRE(patch);
  CHECK(
      json::serialize(*patch) ==
      R"({"metadata":{"resourceVersion":"3"},"status":{"currentMapping":{"cured":{"remoteNamespace":"c","phase":"Accepted",)"
      R"("message":null},"new":{"remoteNamespace":"n","phase":"CreationLoopBackOff","message":")" +
          std::string(300, 'x') + R"("},"gone":null}}})");
  map.mutable_status() =
      parse_value(R"({"currentMapping": {"kept": {"remoteNamespace": "k", "phase": "Accepted"}}})").get_object();
  CHECK_FALSE(plan_map_status(map, {{"kept", {"kept", "k", "Accepted", ""}}}));
  // A character that is cut in two would be stored as another one, and written again for ever.
  const auto split = plan_map_status(map, {{"kept", {"kept", "k", "Accepted", std::string(299, 'x') + "é"}}});
  REQUIRE(split);
  CHECK(kube::string_at(*split, {"status", "currentMapping", "kept", "message"}) == std::string(299, 'x'));
}

}  // namespace liqo::core
