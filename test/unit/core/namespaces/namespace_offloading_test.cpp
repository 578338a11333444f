// A NamespaceOffloading from its selector to what each NamespaceMap asks for, and to the conditions that people read.
#include "../objects.hpp"
#include "core/common/home_names.hpp"
#include "core/namespaces/desired_mapping.hpp"
#include "core/namespaces/offloading_status.hpp"
#include "core/namespaces/remote_name.hpp"

namespace liqo::core {
namespace {

using namespace testing;

kube::Object offloading(std::string_view spec = "{}", std::string_view metadata = "{}") {
  kube::Object object = parse(R"({"metadata": {"name": "offloading", "namespace": "shop", "generation": 3,
    "resourceVersion": "7", "finalizers": ["namespaceoffloading-controller.liqo.io/finalizer"]}, "spec": {}})");
  for (const auto& [key, value] : parse_value(metadata).get_object()) object.mutable_metadata()[key] = value;
  object.mutable_spec() = parse_value(spec).get_object();
  return object;
}
kube::Object deleting(kube::Object object) {
  object.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  return object;
}
kube::Object virtual_node(std::string_view name, std::string_view cluster, std::string_view labels = "{}") {
  kube::Object object = parse(R"({"metadata": {"name": "x", "namespace": "liqo-tenant"}})");
  object.mutable_metadata()["name"] = name;
  object.mutable_spec() = json::object{{"clusterID", cluster}, {"labels", parse_value(labels)}};
  return object;
}
kube::Object node(std::string_view name, std::string_view labels) {
  kube::Object object = parse(R"({"metadata": {"name": "x"}})");
  object.mutable_metadata()["name"] = name;
  object.mutable_metadata()["labels"] = parse_value(labels);
  return object;
}

const char* const in_europe =
    R"({"clusterSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "region", "operator": "In",
        "values": ["europe"]}]}]}})";
const char* const invalid = R"({"clusterSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "region",
        "operator": "Exists", "values": ["europe"]}]}]}})";

/// The twins that one look asks for, of which nothing is remembered.
WantedTwins twins_of(std::span<const kube::Object> all, std::span<const OfferedNode> nodes,
                     const WantedTwins& current) {
  const NodeContext node_ctx;
  TwinMemory memory;
  std::vector<TwinRequest> requests;
  for (const kube::Object& object : all) requests.push_back(twin_request(object, "rome"));
  std::vector<const TwinRequest*> asked;
  for (const TwinRequest& request : requests) asked.push_back(&request);
  return wanted_twins({.requests = asked, .nodes = nodes, .current = current},
                      {.node = node_ctx, .now = {}, .grace = {}}, memory)
      .twins;
}

/// The status after one pass; transition times are those of `when`.
kube::Object told(kube::Object object, const OffloadingFacts& facts, kube::WallTime when = at()) {
  const auto patch = plan_offloading_status(object, facts, when);
  if (!patch) return object;
  CHECK(kube::string_at(*patch, {"metadata", "resourceVersion"}) == "7");
  const auto merge = [](auto& self, json::object& into, const json::object& changes) -> void {
    for (const auto& [key, value] : changes) {
      if (value.is_null()) {
        into.erase(key);
      } else if (value.is_object()) {
        self(self, kube::ensure_object(into, key), value.get_object());
      } else {
        into[key] = value;
      }
    }
  };
  merge(merge, object.mutable_status(), kube::object_at(*patch, {"status"}));
  return object;
}

/// "Type=Status/Reason ..." of one cluster.
std::string conditions(const kube::Object& object, std::string_view map) {
  std::string text;
  for (const json::value& condition : kube::array_at(object.status(), {"remoteNamespacesConditions", map})) {
    if (!text.empty()) text += ' ';
    text += std::string(kube::string_at(condition, {"type"})) + "=" +
            std::string(kube::string_at(condition, {"status"})) + "/" +
            std::string(kube::string_at(condition, {"reason"}));
  }
  return text;
}
std::string message(const kube::Object& object, std::string_view map, std::size_t index) {
  return std::string(
      kube::string_at(kube::array_at(object.status(), {"remoteNamespacesConditions", map})[index], {"message"}));
}
std::string_view phase(const kube::Object& object) { return kube::string_at(object.status(), {"offloadingPhase"}); }

}  // namespace

TEST_CASE("the twin's name follows the strategy, and an impossible one is told with a way out") {
  struct Case {
    const char* title;
    const char* spec;
    const char* local;
    std::string expected;  ///< a name, or the begin of what is wrong
  };
  const std::string long_name(55, 'n');
  const Case cases[] = {
      {"the default", "{}", "shop", "shop-rome"},
      {"DefaultName", R"({"namespaceMappingStrategy": "DefaultName"})", "shop", "shop-rome"},
      {"DefaultName ignores the name", R"({"remoteNamespaceName": "other"})", "shop", "shop-rome"},
      {"EnforceSameName", R"({"namespaceMappingStrategy": "EnforceSameName"})", "shop", "shop"},
      {"SelectedName", R"({"namespaceMappingStrategy": "SelectedName", "remoteNamespaceName": "store"})", "shop",
       "store"},
      {"SelectedName without", R"({"namespaceMappingStrategy": "SelectedName"})", "shop",
       "the strategy SelectedName needs a remoteNamespaceName"},
      {"SelectedName, no name", R"({"namespaceMappingStrategy": "SelectedName", "remoteNamespaceName": "Store!"})",
       "shop", "\"Store!\" cannot be the name of a namespace"},
      {"DefaultName of a name that Kubernetes keeps", "{}", "kube-shop", "kube-shop-rome begins with kube-"},
      {"SelectedName that Kubernetes keeps",
       R"({"namespaceMappingStrategy": "SelectedName", "remoteNamespaceName": "kube-system"})", "shop",
       "kube-system begins with kube- as Kubernetes' own namespaces do; choose another name"},
      {"63 characters", "{}", "58-characters-58-characters-58-characters-58-characters-58",
       "58-characters-58-characters-58-characters-58-characters-58-rome"},
      {"64 characters", "{}", "59-characters-59-characters-59-characters-59-characters-59c",
       "the strategy DefaultName makes the name "
       "59-characters-59-characters-59-characters-59-characters-59c-rome of 64 characters"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    kube::Object object = offloading(c.spec);
    object.mutable_metadata()["namespace"] = c.local;
    const auto name = remote_namespace_name(api::NamespaceOffloading(object), "rome");
    const std::string text = name ? *name : name.error().text();
    CHECK(text.substr(0, c.expected.size()) == c.expected);
    if (name) CHECK(text == c.expected);
  }
}

TEST_CASE("names that no consumer gets") {
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease", "liqo", "liqo-storage",
                           "liqo-tenant-turin", "A", ""})
    CHECK_MESSAGE(refuse_twin_name(name, "liqo", "liqo-storage") != "", name);
  for (const char* name : {"shop", "liqo-demo", "kube-monitoring"})
    CHECK_MESSAGE(refuse_twin_name(name, "liqo", "liqo-storage") == "", name);
  CHECK(refuse_twin_name("liqo-system", "liqo-system", "liqo-storage") != "");
  CHECK(refuse_twin_name("storage-rome", "liqo", "storage-rome") != "");
}

TEST_CASE("a cluster is asked for a twin if any of its virtual nodes is selected") {
  const auto first = virtual_node("milan", "m", R"({"region": "asia"})");
  const auto second = virtual_node("milan-gpu", "m", R"({"region": "europe"})");
  const auto real = node("milan", R"({"region": "europe"})");
  const auto moved = node("milan-gpu", R"({"region": "asia"})");
  struct Case {
    const char* title;
    const char* spec;
    std::vector<OfferedNode> nodes;
    bool expected;
  };
  const Case cases[] = {
      {"no selector", "{}", {{&first, nullptr}}, true},
      {"no terms", R"({"clusterSelector": {"nodeSelectorTerms": []}})", {{&first, nullptr}}, true},
      {"not selected", in_europe, {{&first, nullptr}}, false},
      {"by the labels that the Node will have", in_europe, {{&second, nullptr}}, true},
      {"by the labels that the Node has", in_europe, {{&first, &real}}, true},
      {"the Node's labels come first", in_europe, {{&second, &moved}}, false},
      {"the first of two", in_europe, {{&second, nullptr}, {&first, nullptr}}, true},
      {"the last of two", in_europe, {{&first, nullptr}, {&second, nullptr}}, true},
      {"a cluster's own labels",
       R"({"clusterSelector": {"nodeSelectorTerms": [{"matchExpressions": [
         {"key": "liqo.io/remote-cluster-id", "operator": "In", "values": ["m"]},
         {"key": "storage.liqo.io/available", "operator": "In", "values": ["false"]}]}]}})",
       {{&first, nullptr}},
       true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const std::vector<kube::Object> all{offloading(c.spec)};
    CHECK(twins_of(all, c.nodes, {}).contains("shop") == c.expected);
  }
}

TEST_CASE("what does not count asks for nothing, and a slip of the pen leaves what is there") {
  const auto provider = virtual_node("milan", "m");
  const std::vector<OfferedNode> nodes{{&provider, nullptr}};
  const WantedTwins before{{"shop", "shop-rome"}, {"gone", "gone-rome"}};
  struct Case {
    const char* title;
    kube::Object object;
    WantedTwins expected;
  };
  const Case cases[] = {
      {"valid", offloading(), {{"shop", "shop-rome"}}},
      {"being deleted", deleting(offloading()), {}},
      {"its finalizer was taken", offloading("{}", R"({"finalizers": []})"), {{"shop", "shop-rome"}}},
      {"of another name", offloading("{}", R"({"name": "other"})"), {}},
      {"invalid selector", offloading(invalid), {{"shop", "shop-rome"}}},
      {"invalid name", offloading(R"({"namespaceMappingStrategy": "SelectedName"})"), {{"shop", "shop-rome"}}},
      {"another name for the twin",
       offloading(R"({"namespaceMappingStrategy": "SelectedName", "remoteNamespaceName": "store"})"),
       {{"shop", "store"}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const std::vector<kube::Object> all{c.object};
    CHECK(twins_of(all, nodes, before) == c.expected);
  }
  const std::vector<kube::Object> wrong{offloading(invalid)};
  CHECK(twins_of(wrong, nodes, {}).empty());
  const std::vector<kube::Object> unguarded{offloading("{}", R"({"finalizers": []})")};
  CHECK(twins_of(unguarded, nodes, {}).empty());
}

TEST_CASE("the NamespaceMap is written once, and only for what changes") {
  const kube::Object made = forge_namespace_map({"liqo-tenant-m", "m"}, "m", {{"shop", "shop-rome"}});
  CHECK(made.text() ==
        R"({"apiVersion":"offloading.liqo.io/v1beta1","kind":"NamespaceMap","metadata":{"name":"m","namespace":)"
        R"("liqo-tenant-m","labels":{"liqo.io/remote-cluster-id":"m","liqo.io/replication":"true",)"
        R"("liqo.io/remoteID":"m"}},"spec":{"desiredMapping":{"shop":"shop-rome"}}})");
  CHECK(api::NamespaceMap(made).is_outgoing_to("m"));
  CHECK_FALSE(plan_namespace_map(made, "m", {{"shop", "shop-rome"}}));

  kube::Object stored = made;
  stored.mutable_metadata()["resourceVersion"] = "5";
  CHECK(json::serialize(*plan_namespace_map(stored, "m", {{"mail", "mail-rome"}})) ==
        R"({"metadata":{"resourceVersion":"5"},"spec":{"desiredMapping":{"mail":"mail-rome","shop":null}}})");
  stored.mutable_metadata().erase("labels");
  CHECK(json::serialize(*plan_namespace_map(stored, "m", {{"shop", "shop-rome"}})) ==
        R"({"metadata":{"resourceVersion":"5","labels":{"liqo.io/remote-cluster-id":"m","liqo.io/replication":"true",)"
        R"("liqo.io/remoteID":"m"}}})");
}

TEST_CASE("phase and conditions tell how far it has come") {
  const std::string required = "OffloadingRequired=True/ClusterSelected";
  const std::string not_required = "OffloadingRequired=False/ClusterNotSelected";
  struct Case {
    const char* title;
    OffloadingFacts facts;
    const char* phase;
    std::vector<std::string> conditions;  ///< of "a", "b", "c"
  };
  const std::string created = required + " Ready=True/NamespaceCreated";
  const std::string creating = required + " Ready=False/Creating";
  const std::string failing = required + " Ready=False/CreationLoopBackOff";
  const Case cases[] = {
      {"no clusters at all", {"r", "", {}}, "NoClusterSelected", {}},
      {"all accepted", {"r", "", {{"a", true, "Accepted"}, {"b", true, "Accepted"}}}, "Ready", {created, created}},
      {"one is missing", {"r", "", {{"a", true, "Accepted"}, {"b", true, ""}}}, "InProgress", {created, creating}},
      {"one fails",
       {"r", "", {{"a", true, "Accepted"}, {"b", true, "CreationLoopBackOff"}}},
       "SomeFailed",
       {created, failing}},
      {"one fails, one is missing",
       {"r", "", {{"a", true, ""}, {"b", true, "CreationLoopBackOff"}}},
       "SomeFailed",
       {creating, failing}},
      {"all fail",
       {"r", "", {{"a", true, "CreationLoopBackOff"}, {"b", true, "CreationLoopBackOff"}}},
       "AllFailed",
       {failing, failing}},
      {"one is not selected",
       {"r", "", {{"a", true, "Accepted"}, {"b", true, "Accepted"}, {"c", false, ""}}},
       "Ready",
       {created, created, not_required}},
      {"none is selected", {"r", "", {{"a", false, ""}}}, "NoClusterSelected", {not_required}},
      {"no longer selected",
       {"r", "", {{"a", false, "Accepted"}}},
       "NoClusterSelected",
       {not_required + " Ready=False/Terminating"}},
      {"going",
       {"r", "", {{"a", false, "Terminating"}}},
       "NoClusterSelected",
       {not_required + " Ready=False/Terminating"}},
      {"wanted again while it goes",
       {"r", "", {{"a", true, "Terminating"}}},
       "InProgress",
       {required + " Ready=False/Terminating"}},
      {"an unknown phase", {"r", "", {{"a", true, "Dreaming"}}}, "InProgress", {creating}},
      {"no name can be asked for", {"", "too long", {{"a", true, ""}, {"c", false, ""}}}, "AllFailed", {failing}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const kube::Object after = told(offloading(), c.facts);
    CHECK(phase(after) == c.phase);
    for (std::size_t i = 0; i < c.conditions.size(); ++i)
      CHECK(conditions(after, std::string(1, static_cast<char>('a' + i))) == c.conditions[i]);
    CHECK(kube::int_at(after.tree(), {"status", "observedGeneration"}) == 3);
    CHECK(kube::string_at(after.status(), {"remoteNamespaceName"}) == c.facts.remote_name);
    CHECK_FALSE(plan_offloading_status(after, c.facts, at(std::chrono::hours(1))));
  }
}

TEST_CASE("a twin that stays for its data is told of, and holds up nothing") {
  TwinState held{"a", false, "Accepted"};
  held.held = "volumes are there";
  const OffloadingFacts facts{"r", "", {held, {"b", true, "Accepted"}}};
  const kube::Object after = told(offloading(), facts);
  CHECK(conditions(after, "a") == "OffloadingRequired=False/ClusterNotSelected Ready=False/TwinHoldsData");
  CHECK(message(after, "a", 1) == "volumes are there");
  CHECK(phase(after) == "Ready");
  // The namespace may be withdrawn, and reports that as long as others are waited for.
  const OffloadingFacts going{"r", "", {held, {"b", false, "Terminating"}}};
  CHECK_FALSE(is_withdrawn(going));
  CHECK(conditions(told(deleting(after), going), "a") ==
        "OffloadingRequired=False/ClusterNotSelected Ready=False/TwinHoldsData");
  CHECK(is_withdrawn({"r", "", {held, {"b", false, ""}}}));

  // It stands in the way of one of another name.
  held.required = true;
  const kube::Object in_the_way = told(offloading(), {"r", "", {held}});
  CHECK(conditions(in_the_way, "a") == "OffloadingRequired=True/ClusterSelected Ready=False/CreationLoopBackOff");
  CHECK(message(in_the_way, "a", 1).ends_with(": volumes are there"));
  CHECK(phase(in_the_way) == "AllFailed");
  CHECK_FALSE(is_withdrawn({"r", "", {held}}));
}

TEST_CASE("names that do not resolve are told where the twin is ready, and once") {
  OffloadingFacts facts{"r", "", {{"a", true, "Accepted"}, {"b", true, ""}, {"c", true, "Accepted"}}};
  for (TwinState& twin : facts.twins) twin.names = "no names in " + twin.map;
  CHECK(new_words_about_names(offloading(), facts) == "no names in a; no names in c");
  const kube::Object after = told(offloading(), facts);
  CHECK(message(after, "a", 1) == "the twin namespace is there; no names in a");
  CHECK(message(after, "b", 1) == "the twin namespace is being created");
  CHECK(new_words_about_names(after, facts).empty());
  facts.twins[1].phase = "Accepted";
  CHECK(new_words_about_names(after, facts) == "no names in b");
  facts.twins[0].names.clear();
  facts.twins[1].names.clear();
  CHECK(message(told(after, facts), "a", 1) == "the twin namespace is there");
  CHECK(new_words_about_names(after, facts).empty());
  facts.twins[2].names = "others";
  CHECK(new_words_about_names(after, facts) == "others");
  CHECK(new_words_about_names(deleting(after), facts).empty());
}

TEST_CASE("that names resolve from now on is told once, where it was said that they do not") {
  OffloadingFacts facts{"r", "", {{"a", true, "Accepted"}, {"b", true, "Accepted"}}};
  CHECK(new_words_about_reads(offloading(), facts, "rome").empty());
  facts.twins[0].names = names_not_resolved({"shop", "shop-rome", "rome", "a"});
  facts.twins[1].names = "pods find another Service";
  const kube::Object before = told(offloading(), facts);
  CHECK(new_words_about_reads(before, facts, "rome").empty());
  // A twin of another name stays unresolved where names of home are known.
  facts.twins[0].names = names_not_resolved({"shop", "sales", "rome", "a", true});
  CHECK(new_words_about_reads(before, facts, "rome").empty());
  for (TwinState& twin : facts.twins) twin.names.clear();
  const std::string ns(before.ns());
  CHECK(new_words_about_reads(before, facts, "rome") == names_resolved_now(ns, ns + "-rome", "a"));
  CHECK(new_words_about_reads(deleting(before), facts, "rome").empty());
  CHECK(new_words_about_reads(told(before, facts), facts, "rome").empty());
}

TEST_CASE("the messages are those that Liqo's users know, and the provider's reason follows") {
  OffloadingFacts facts{"r",
                        "",
                        {{"a", true, "Accepted"},
                         {"b", false, "Terminating"},
                         {"c", true, ""},
                         {"d", true, "CreationLoopBackOff", "taken\nalready"},
                         {"e", true, "CreationLoopBackOff"}}};
  const kube::Object after = told(offloading(), facts);
  CHECK(message(after, "a", 0) == "the clusterSelector selects this cluster");
  CHECK(message(after, "a", 1) == "the twin namespace is there");
  CHECK(message(after, "b", 0) == "the clusterSelector does not select this cluster");
  CHECK(message(after, "b", 1) == "the twin namespace is being deleted");
  CHECK(message(after, "c", 1) == "the twin namespace is being created");
  CHECK(message(after, "d", 1) == "the twin namespace is not ready: taken already");
  CHECK(message(after, "e", 1) == "the twin namespace is not ready");
  for (TwinState& twin : facts.twins) twin.silence = "nobody runs Liqo there";
  const kube::Object silent = told(offloading(), facts);
  CHECK(message(silent, "a", 1) == "the twin namespace is there");
  CHECK(message(silent, "c", 1) == "the twin namespace is not there yet: nobody runs Liqo there");
  CHECK(message(silent, "d", 1) == "the twin namespace is not ready: taken already");
  facts.twins[4].message = std::string(299, 'x') + "\u00e4" + std::string(5000, 'y');
  CHECK(message(told(offloading(), facts), "e", 1).size() < 400);
}

TEST_CASE("a transition time changes with the status only") {
  const auto time_of = [](const kube::Object& object) {
    return std::string(kube::string_at(kube::array_at(object.status(), {"remoteNamespacesConditions", "a"})[1],
                                       {"lastTransitionTime"}));
  };
  using std::chrono::seconds;
  const kube::Object creating = told(offloading(), {"r", "", {{"a", true, ""}}});
  const kube::Object failing = told(creating, {"r", "", {{"a", true, "CreationLoopBackOff", "why"}}}, at(seconds(10)));
  CHECK(time_of(failing) == time_of(creating));
  CHECK(conditions(failing, "a") == "OffloadingRequired=True/ClusterSelected Ready=False/CreationLoopBackOff");
  const kube::Object ready = told(failing, {"r", "", {{"a", true, "Accepted"}}}, at(seconds(20)));
  CHECK(time_of(ready) == "2026-11-21T10:00:20Z");
}

TEST_CASE("a cluster that is gone, or has nothing left while the namespace is withdrawn, is no longer told of") {
  const OffloadingFacts both{"r", "", {{"a", true, "Accepted"}, {"b", true, "Accepted"}}};
  const kube::Object ready = told(offloading(), both);
  const kube::Object left = told(ready, {"r", "", {{"a", true, "Accepted"}}});
  CHECK(conditions(left, "b").empty());
  CHECK(phase(left) == "Ready");

  const OffloadingFacts going{"r", "", {{"a", false, "Terminating"}, {"b", false, ""}}};
  const kube::Object after = told(deleting(ready), going);
  CHECK(phase(after) == "Terminating");
  CHECK(conditions(after, "a") == "OffloadingRequired=False/ClusterNotSelected Ready=False/Terminating");
  CHECK(conditions(after, "b").empty());
  CHECK_FALSE(is_withdrawn(going));
  CHECK_FALSE(is_withdrawn(both));
  CHECK(is_withdrawn({"r", "", {{"a", false, ""}}}));
  CHECK(is_withdrawn({}));
}

}  // namespace liqo::core
