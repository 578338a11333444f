// The change of admission to the pods of offloaded namespaces: the patch, and the pod after it.
#include "core/offloading/pod_scheduling.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;

const char* const toleration =
    R"({"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists", "effect": "NoExecute"})";
const char* const on_virtual = R"({"key": "liqo.io/type", "operator": "In", "values": ["virtual-node"]})";
const char* const off_virtual = R"({"key": "liqo.io/type", "operator": "NotIn", "values": ["virtual-node"]})";

std::string exists(std::string_view key) { return R"({"key": ")" + std::string(key) + R"(", "operator": "Exists"})"; }
std::string term(std::initializer_list<std::string> expressions) {
  std::string text;
  for (const std::string& expression : expressions) text += (text.empty() ? "" : ", ") + expression;
  return R"({"matchExpressions": [)" + text + "]}";
}
std::string terms(std::initializer_list<std::string> list) {
  std::string text;
  for (const std::string& one : list) text += (text.empty() ? "" : ", ") + one;
  return R"({"nodeSelectorTerms": [)" + text + "]}";
}

/// A NamespaceOffloading with this strategy and cluster selector (JSON, "" = none).
kube::Object offloading(std::string_view strategy, std::string_view selector = "") {
  kube::Object object = parse(R"({"metadata": {"name": "offloading", "namespace": "shop"}, "spec": {}})");
  if (!strategy.empty()) object.mutable_spec()["podOffloadingStrategy"] = strategy;
  if (!selector.empty()) object.mutable_spec()["clusterSelector"] = parse_value(selector);
  return object;
}

/// A pod that has this spec besides its container.
json::object pod(std::string_view spec = "{}", std::string_view metadata = "{}") {
  json::object tree{{"metadata", parse_value(metadata)}, {"spec", parse_value(spec)}};
  tree["spec"].get_object()["containers"] = json::array{json::object{{"name", "main"}, {"image", "img"}}};
  return tree;
}
std::string required(std::string_view selector) {
  return R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": )" +
         std::string(selector) + "}}}";
}

json::array plan(const json::object& tree, const kube::Object& wish) {
  auto planned = plan_pod_scheduling(tree, api::NamespaceOffloading(wish));
  REQUIRE(planned.has_value());
  return std::move(*planned);
}

/// Carries out what of RFC 6902 is used: `add` to objects and to the end of arrays.
json::object patched(json::object tree, const json::array& patch) {
  json::value root = std::move(tree);
  for (const json::value& step : patch) {
    CHECK(kube::string_at(step, {"op"}) == "add");
    std::string_view path = kube::string_at(step, {"path"});
    json::value* at = &root;
    while (true) {
      REQUIRE(path.starts_with('/'));
      path.remove_prefix(1);
      const std::string_view part = path.substr(0, path.find('/'));
      path.remove_prefix(part.size());
      if (path.empty()) {
        if (at->is_array()) {
          REQUIRE(part == "-");
          at->get_array().push_back(*kube::find(step, {"value"}));
        } else {
          at->as_object()[part] = *kube::find(step, {"value"});
        }
        break;
      }
      at = at->as_object().if_contains(part);
      REQUIRE(at != nullptr);
    }
  }
  return std::move(root.as_object());
}

json::value terms_of(const json::object& tree) {
  const json::value* found = kube::find(tree, {"spec", "affinity", "nodeAffinity",
                                               "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  return found ? *found : json::value();
}
/// The terms that a pod ends up with.
json::value result(const json::object& tree, const kube::Object& wish) {
  return terms_of(patched(tree, plan(tree, wish)));
}
json::value list(std::initializer_list<std::string> entries) {
  return *kube::find(parse_value(terms(entries)), {"nodeSelectorTerms"});
}

}  // namespace

TEST_CASE("under the strategy Local a pod stays as it is") {
  CHECK(plan(pod(), offloading("Local", terms({term({exists("a")})}))).empty());
  // What a newer version means by its word is not known here: no pod is offloaded for it.
  CHECK(plan(pod(), offloading("Elsewhere")).empty());
}

TEST_CASE("strategy and cluster selector decide which nodes are left") {
  const std::string both = terms({term({exists("a"), exists("b")}), term({exists("c"), exists("d")})});
  struct Case {
    const char* title;
    kube::Object wish;
    json::value expected;
  };
  const Case cases[] = {
      {"Remote, no selector", offloading("Remote"), list({term({on_virtual})})},
      {"Remote, no terms", offloading("Remote", terms({})), list({term({on_virtual})})},
      {"Remote, (a and b) or (c and d)", offloading("Remote", both),
       list({term({exists("a"), exists("b"), on_virtual}), term({exists("c"), exists("d"), on_virtual})})},
      {"LocalAndRemote, no selector", offloading("LocalAndRemote"), nullptr},
      {"the default strategy", offloading(""), nullptr},
      {"LocalAndRemote, the same", offloading("LocalAndRemote", both),
       list({term({exists("a"), exists("b")}), term({exists("c"), exists("d")}), term({off_virtual})})},
      {"Remote, a term that matches nothing", offloading("Remote", terms({"{}"})), list({"{}"})},
      {"LocalAndRemote, a term that matches nothing", offloading("LocalAndRemote", terms({"{}"})),
       list({term({off_virtual})})},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const json::array patch = plan(pod(), c.wish);
    CHECK(terms_of(patched(pod(), patch)) == c.expected);
    CHECK(*kube::find(patched(pod(), patch), {"spec", "tolerations"}) == json::array{parse_value(toleration)});
  }
}

TEST_CASE("a pod's own terms and the imposed ones are combined, the pod's first") {
  const auto own = pod(required(terms({term({exists("x")}), term({exists("y")})})));
  const auto wish = offloading("LocalAndRemote", terms({term({exists("a")})}));
  CHECK(result(own, wish) == list({term({exists("x"), exists("a")}), term({exists("x"), off_virtual}),
                                   term({exists("y"), exists("a")}), term({exists("y"), off_virtual})}));
}

TEST_CASE("fields of both sides survive the combination") {
  const char* const name = R"({"key": "metadata.name", "operator": "In", "values": ["milan"]})";
  const char* const other = R"({"key": "metadata.name", "operator": "NotIn", "values": ["turin"]})";
  const auto own = pod(required(terms({R"({"matchFields": [)" + std::string(name) + R"(], "future": 1})"})));
  const auto wish = offloading(
      "Remote", terms({R"({"matchExpressions": [)" + exists("a") + R"(], "matchFields": [)" + other + "]}"}));
  CHECK(result(own, wish) ==
        list({R"({"matchFields": [)" + std::string(name) + ", " + other + R"(], "future": 1, "matchExpressions": [)" +
              exists("a") + ", " + on_virtual + "]}"}));
}

TEST_CASE("a term of the pod that matches nothing does not begin to match") {
  CHECK(result(pod(required(terms({"{}", term({exists("x")})}))), offloading("Remote")) ==
        list({term({exists("x"), on_virtual})}));
  CHECK(result(pod(required(terms({"{}"}))), offloading("Remote")) == list({"{}"}));
}

TEST_CASE("nothing but the terms is written") {
  struct Case {
    const char* title;
    const char* spec;
    const char* path;
  };
  const Case cases[] = {
      {"no affinity", "{}", "/spec/affinity"},
      {"affinity is null", R"({"affinity": null})", "/spec/affinity"},
      {"only pod affinity", R"({"affinity": {"podAffinity": {"x": 1}}})", "/spec/affinity/nodeAffinity"},
      {"only preferred terms",
       R"({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [1]}}})",
       "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"},
      {"an empty list of terms",
       R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}})",
       "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const json::array patch = plan(pod(c.spec), offloading("Remote"));
    REQUIRE(patch.size() == 2);
    CHECK(kube::string_at(patch[1], {"path"}) == c.path);
    CHECK(result(pod(c.spec), offloading("Remote")) == list({term({on_virtual})}));
  }
  const auto kept = patched(pod(cases[2].spec), plan(pod(cases[2].spec), offloading("Remote")));
  CHECK(kube::int_at(kept.at("spec"), {"affinity", "podAffinity", "x"}) == 1);
}

TEST_CASE("a pod that tolerates virtual nodes gets no second toleration") {
  struct Case {
    const char* title;
    const char* present;
    bool tolerated;
  };
  const Case cases[] = {
      {"the same", toleration, true},
      {"every taint", R"({"operator": "Exists"})", true},
      {"every effect", R"({"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists"})", true},
      {"by value",
       R"({"key": "virtual-node.liqo.io/not-allowed", "operator": "Equal", "value": "true", "effect": "NoExecute"})",
       true},
      {"by another value", R"({"key": "virtual-node.liqo.io/not-allowed", "value": "no", "effect": "NoExecute"})",
       false},
      {"for a time only",
       R"({"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists", "tolerationSeconds": 300})", false},
      {"another effect", R"({"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists", "effect": "NoSchedule"})",
       false},
      {"another taint", R"({"key": "gpu", "operator": "Exists", "effect": "NoExecute"})", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const auto tree = pod(R"({"tolerations": [)" + std::string(c.present) + "]}");
    const json::array patch = plan(tree, offloading("LocalAndRemote"));
    CHECK(patch.size() == (c.tolerated ? 0 : 1));
    const auto after = patched(tree, patch);
    const auto& tolerations = kube::array_at(after, {"spec", "tolerations"});
    CHECK(tolerations[0] == parse_value(c.present));
    if (!c.tolerated) CHECK(tolerations[1] == parse_value(toleration));
  }
  CHECK(plan(pod(R"({"tolerations": null})"), offloading("LocalAndRemote")).size() == 1);
}

TEST_CASE("the runtime class of Liqo chooses virtual nodes itself, others do not") {
  for (const char* strategy : {"Remote", "LocalAndRemote", "Local"})
    CHECK(plan(pod(R"({"runtimeClassName": "liqo"})"), offloading(strategy, terms({term({exists("a")})}))).empty());
  CHECK(plan(pod(R"({"runtimeClassName": "kata"})"), offloading("LocalAndRemote")).size() == 1);
}

TEST_CASE("a pod that a DaemonSet has bound to its node, and a mirror pod, stay as they are") {
  const std::string pinned =
      required(terms({R"({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["worker"]}]})"}));
  const char* const by_daemon_set =
      R"({"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": true}]})";
  const char* const by_replica_set =
      R"({"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "d", "controller": true}]})";
  CHECK(plan(pod(pinned, by_daemon_set), offloading("Remote")).empty());
  CHECK_FALSE(plan(pod(pinned, by_replica_set), offloading("Remote")).empty());
  CHECK_FALSE(plan(pod("{}", by_daemon_set), offloading("Remote")).empty());
  CHECK(plan(pod("{}", R"({"annotations": {"kubernetes.io/config.mirror": "x"}})"), offloading("Remote")).empty());
}

TEST_CASE("what a DaemonSet puts on a node while that is removed goes with it") {
  const auto goes = [](std::string_view kind, std::string_view created, std::string_view since, bool deleting = false) {
    json::object owner{{"apiVersion", "apps/v1"}, {"kind", kind}, {"name", "x"}, {"controller", true}};
    json::object metadata{{"name", "p"}, {"creationTimestamp", created}, {"ownerReferences", json::array{owner}}};
    if (deleting) metadata["deletionTimestamp"] = created;
    return goes_with_node(kube::Object(json::object{{"metadata", metadata}}), since);
  };
  constexpr std::string_view before = "2026-11-21T09:59:59Z", since = "2026-11-21T10:00:00Z",
                             after = "2026-11-21T10:00:01Z";
  CHECK(goes("DaemonSet", after, since));
  CHECK(goes("DaemonSet", since, since));
  CHECK_FALSE(goes("DaemonSet", before, since));
  CHECK_FALSE(goes("ReplicaSet", after, since));
  CHECK_FALSE(goes("DaemonSet", after, ""));
  CHECK_FALSE(goes("DaemonSet", after, since, true));
  CHECK_FALSE(goes_with_node(kube::Object(json::object()), since));
}

TEST_CASE("an invalid selector, and terms without end, are refused in words") {
  const auto refusal = [](const json::object& tree, const kube::Object& wish) {
    const auto planned = plan_pod_scheduling(tree, api::NamespaceOffloading(wish));
    return planned ? std::string("accepted") : planned.error().text();
  };
  CHECK(refusal(pod(), offloading("Remote", R"({"nodeSelectorTerms": [{"matchExpressions": [{"key": "a",
    "operator": "Exists", "values": ["b"]}]}]})")) ==
        "the clusterSelector of NamespaceOffloading shop/offloading is invalid; correct it and create the pod again: "
        "nodeSelectorTerms[0].matchExpressions[0]: Exists takes no values");
  std::string many;
  for (int i = 0; i < 40; ++i) many += (i ? ", " : "") + term({exists("a")});
  CHECK(refusal(pod(required(terms({many}))), offloading("Remote", terms({many}))) ==
        "40 node affinity terms of the pod and 40 of NamespaceOffloading shop/offloading make more than 1000 together; "
        "use fewer");
}

TEST_CASE("what is not a pod is patched without a crash") {
  for (const char* text : {"{}", R"({"spec": 1})", R"({"spec": {"affinity": [], "tolerations": {}}})",
                           R"({"metadata": {"ownerReferences": [1, {}]}, "spec": {"tolerations": [1]}})"}) {
    CAPTURE(text);
    CHECK(plan_pod_scheduling(parse_value(text).get_object(), api::NamespaceOffloading(offloading("Remote")))
              .has_value());
  }
}

TEST_CASE("what says already what is imposed stays as it is") {
  const auto wish = offloading("Remote", terms({term({exists("a")}), term({exists("b")})}));
  for (const auto& tree :
       {pod(), pod(required(terms({term({exists("x")}), term({exists("y")})}))), pod(required(terms({"{}"})))}) {
    const json::object once = patched(tree, plan(tree, wish));
    CHECK(plan(once, wish) == json::array());
  }
  // One of its terms would let in a node that is not virtual.
  const auto partly = pod(required(terms({term({exists("a"), on_virtual}), term({exists("x")})})));
  CHECK(result(partly, wish).as_array().size() == 4);
}

TEST_CASE("under the strategy Remote the template of a DaemonSet gets what its pods would") {
  const auto daemon_set = [](const json::object& tree) {
    return json::object{{"metadata", json::object{{"name", "agent"}}}, {"spec", json::object{{"template", tree}}}};
  };
  const auto tree = pod(R"({"tolerations": [{"key": "own", "operator": "Exists"}]})");
  const auto planned = [&](const kube::Object& wish) {
    return plan_daemon_set_scheduling(daemon_set(tree), api::NamespaceOffloading(wish));
  };
  const auto patch = planned(offloading("Remote"));
  REQUIRE(patch);
  REQUIRE(patch->size() == 2);
  CHECK(kube::string_at((*patch)[0], {"path"}) == "/spec/template/spec/tolerations/-");
  CHECK(kube::string_at((*patch)[1], {"path"}) == "/spec/template/spec/affinity");
  CHECK(json::serialize((*patch)[1]).contains(R"("key":"liqo.io/type","operator":"In","values":["virtual-node"])"));
  // A DaemonSet whose pods run at home does so.
  for (const char* strategy : {"Local", "LocalAndRemote", ""}) CHECK(planned(offloading(strategy)) == json::array());
  CHECK_FALSE(planned(offloading("Remote", terms({R"({"matchExpressions":[{"key":"a","operator":"Like"}]})"}))));
}

TEST_CASE("a pod whose tolerations are replaced keeps that of virtual nodes as it had it") {
  const auto tolerating = [](std::initializer_list<std::string> list) {
    json::array all;
    for (const std::string& one : list) all.push_back(parse_value(one));
    json::object tree = pod();
    tree["spec"].as_object()["tolerations"] = std::move(all);
    return tree;
  };
  const std::string own = R"({"key": "own", "operator": "Exists"})";
  const std::string short_one =
      R"({"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists", "tolerationSeconds": 5})";
  const json::object before = tolerating({own, toleration, short_one});
  CHECK(keep_toleration(before, before) == json::array());
  CHECK(patched(tolerating({own}), keep_toleration(before, tolerating({own}))) == before);
  CHECK(patched(pod(), keep_toleration(before, pod())) == tolerating({toleration, short_one}));
  CHECK(patched(tolerating({}), keep_toleration(before, tolerating({}))) == tolerating({toleration, short_one}));
  CHECK(keep_toleration(tolerating({own}), pod()) == json::array());
}

}  // namespace liqo::core
