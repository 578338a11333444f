// The Node of a VirtualNode: made, and kept as it is wanted.
#include "core/nodes/node.hpp"

#include "../objects.hpp"
#include "core/nodes/node_extras.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using Network = ProviderHealth::Network;

kube::Object virtual_node(std::string_view spec) {
  return parse(R"({"metadata": {"name": "milan", "namespace": "liqo-tenant-milan"}, "spec": )" + std::string(spec) +
               "}");
}
const char* const usual =
    R"({"clusterID": "milan-cluster", "resourceQuota": {"hard": {"cpu": "2", "memory": "3Gi", "pods": "110"}}})";

ProviderHealth healthy(Network network = Network::unchecked) { return {.probed = true, .network = network}; }
const NodeContext ctx{.node_ip = "172.18.0.4", .kubelet_port = 10250, .kubelet_version = "v1.35.4"};

kube::Object node_of(const kube::Object& wish, const ProviderHealth& health = healthy()) {
  kube::Object node = forge_node({.virtual_node = api::VirtualNode(wish), .health = health, .ctx = ctx}, at());
  node.mutable_metadata()["uid"] = "n1";
  node.mutable_metadata()["resourceVersion"] = "5";
  return node;
}

std::string conditions(const json::object& status) {
  std::string text;
  for (const json::value& entry : kube::array_at(status, {"conditions"}))
    text += std::string(kube::string_at(entry, {"type"})) + "=" + std::string(kube::string_at(entry, {"status"})) + " ";
  return text;
}

NodePlan plan(const kube::Object& node, const kube::Object& wish) {
  const ProviderHealth health = healthy();
  return plan_node(node, {.virtual_node = api::VirtualNode(wish), .health = health, .ctx = ctx}, at(10s));
}

node_action::Update update(const kube::Object& node, const kube::Object& wish, const ProviderHealth& health = healthy(),
                           std::chrono::seconds later = 10s) {
  return std::get<node_action::Update>(
      plan_node(node, {.virtual_node = api::VirtualNode(wish), .health = health, .ctx = ctx}, at(later)));
}

/// Merges a patch as RFC 7386 does; conditions by type as Kubernetes does.
void apply(json::object& target, const json::object& patch) {
  for (const auto& [key, value] : patch) {
    if (value.is_null()) {
      target.erase(key);
    } else if (key == "conditions") {
      for (const json::value& change : value.as_array()) {
        json::array& have = target[key].as_array();
        const auto found = std::find_if(have.begin(), have.end(), [&](const json::value& entry) {
          return kube::string_at(entry, {"type"}) == kube::string_at(change, {"type"});
        });
        if (kube::string_at(change, {"$patch"}) == "delete") {
          if (found != have.end()) have.erase(found);
        } else if (found == have.end()) {
          have.push_back(change);
        } else {
          apply(found->as_object(), change.as_object());
        }
      }
    } else if (value.is_object()) {
      apply(kube::ensure_object(target, key), value.get_object());
    } else {
      target[key] = value;
    }
  }
}
kube::Object after(kube::Object node, const node_action::Update& changes) {
  if (changes.metadata) apply(node.tree(), *changes.metadata);
  if (changes.status) apply(node.tree(), *changes.status);
  return node;
}

}  // namespace

TEST_CASE("a new Node is complete") {
  const kube::Object node =
      node_of(virtual_node(R"({"clusterID": "milan-cluster", "labels": {"zone": "north", "liqo.io/type": "fake"},
    "annotations": {"note": "x"}, "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"},
      {"key": "virtual-node.liqo.io/not-allowed", "value": "true", "effect": "NoExecute"}],
    "storageClasses": [{"storageClassName": "fast"}], "images": [{"names": ["a:1"], "sizeBytes": 5}],
    "resourceQuota": {"hard": {"cpu": "2", "memory": "3Gi", "pods": 110, "broken": "much", "nvidia.com/gpu": "-1"}}})"));
  CHECK(node.kind() == "Node");
  CHECK(node.ns() == "");
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"liqo.io/type", "virtual-node"},
           {"liqo.io/remote-cluster-id", "milan-cluster"},
           {"storage.liqo.io/available", "true"},
           {"type", "virtual-kubelet"},
           {"kubernetes.io/role", "agent"},
           {"kubernetes.io/hostname", "milan"},
           {"kubernetes.io/os", "linux"},
           {"kubernetes.io/arch", "amd64"},
           {"zone", "north"},
           {"node.kubernetes.io/exclude-from-external-load-balancers", "true"},
           {"alpha.service-controller.kubernetes.io/exclude-balancer", "true"}}) {
    CAPTURE(key);
    CHECK(node.label(key) == value);
  }
  CHECK(node.annotation("note") == "x");
  CHECK(
      json::serialize(*kube::find(node.spec(), {"taints"})) ==
      R"([{"key":"virtual-node.liqo.io/not-allowed","value":"true","effect":"NoExecute"},{"key":"gpu","effect":"NoSchedule","value":"yes"}])");
  CHECK(node.status().at("capacity") == parse_value(R"({"cpu": "2", "memory": "3Gi", "pods": "110"})"));
  CHECK(node.status().at("allocatable") == node.status().at("capacity"));
  CHECK(json::serialize(node.status().at("addresses")) == R"([{"type":"InternalIP","address":"172.18.0.4"}])");
  CHECK(kube::int_at(node.tree(), {"status", "daemonEndpoints", "kubeletEndpoint", "Port"}) == 10250);
  CHECK(kube::string_at(node.status(), {"nodeInfo", "kubeletVersion"}) == "v1.35.4");
  CHECK(kube::array_at(node.status(), {"images"}).size() == 1);
  CHECK(conditions(node.status()) == "Ready=True MemoryPressure=False DiskPressure=False PIDPressure=False ");
  const kube::Object plain = node_of(virtual_node(usual));
  CHECK(plain.label("storage.liqo.io/available") == "false");
}

TEST_CASE("a Node declares the features that its labels tell of") {
  const auto with = [](std::string_view labels) {
    return virtual_node(R"({"clusterID": "c", "resourceQuota": {"hard": {"cpu": "2", "memory": "3Gi", "pods": "110"}},
      "labels": )" + std::string(labels) +
                        "}");
  };
  const auto declared = [](const kube::Object& node) {
    return json::serialize(kube::array_at(node.status(), {"declaredFeatures"}));
  };
  const kube::Object plain = with(R"({"zone": "a"})"),
                     able = with(R"({"features.liqo.io/B": "true", "features.liqo.io/A": "true",
                                     "features.liqo.io/c": "true", "features.liqo.io/D": "no"})"),
                     less = with(R"({"features.liqo.io/B": "true"})"),
                     more = with(R"({"features.liqo.io/B": "true", "features.liqo.io/E": "true"})");
  CHECK_FALSE(node_of(plain).status().contains("declaredFeatures"));
  CHECK(declared(node_of(able)) == R"(["A","B"])");

  SUBCASE("and follows them") {
    kube::Object node = after(node_of(plain), update(node_of(plain), able));
    CHECK(declared(node) == R"(["A","B"])");
    CHECK(node.label("features.liqo.io/A") == "true");
    CHECK_FALSE(update(node, able).status.has_value());
    node = after(node, update(node, less));
    CHECK(declared(node) == R"(["B"])");
    node = after(node, update(node, plain));
    CHECK_FALSE(node.status().contains("declaredFeatures"));
    CHECK_FALSE(node.has_label("features.liqo.io/B"));
    CHECK_FALSE(update(node, plain).status.has_value());
  }
  SUBCASE("what somebody else has written is put right") {
    kube::Object node = node_of(able);
    node.mutable_status()["declaredFeatures"] = json::array{"Z"};
    CHECK(declared(after(node, update(node, able))) == R"(["A","B"])");
    CHECK_FALSE(after(node, update(node, plain)).status().contains("declaredFeatures"));
  }
  SUBCASE("a server that drops the field is not written to again and again") {
    kube::Object node = node_of(able);
    node.mutable_status().erase("declaredFeatures");
    CHECK_FALSE(update(node, able).status.has_value());
    // The heartbeat has it, for a server that has learnt the field meanwhile.
    const node_action::Update beat = update(node, able, healthy(), 6min);
    REQUIRE(beat.status.has_value());
    CHECK(declared(after(node, beat)) == R"(["A","B"])");
    // A new feature is tried at once, and once.
    const node_action::Update told = update(node, more);
    CHECK(declared(after(node, told)) == R"(["B","E"])");
    const kube::Object next = after(node, {.metadata = told.metadata, .status = std::nullopt});
    CHECK_FALSE(update(next, more).status.has_value());
    CHECK_FALSE(update(node, less).status.has_value());
    CHECK_FALSE(update(node, plain).status.has_value());
  }
  SUBCASE("nor for labels that somebody else has set and liqod does not remove") {
    kube::Object node = node_of(able);
    node.mutable_status().erase("declaredFeatures");
    node.set_label("features.liqo.io/Z", "true");
    CHECK_FALSE(update(node, able).status.has_value());
    kube::Object bare = node_of(plain);
    bare.set_label("features.liqo.io/Z", "true");
    CHECK_FALSE(update(bare, plain).status.has_value());
    // A label with another value stands for no feature.
    bare.set_label("features.liqo.io/B", "no");
    CHECK(declared(after(bare, update(bare, less))) == R"(["B"])");
  }
}

TEST_CASE("a Node shows the version of its provider, as far as that is one") {
  struct Case {
    const char* answer;
    const char* version;
  };
  for (const Case& c :
       {Case{R"({"gitVersion":"v1.34.4"})", "v1.34.4"}, Case{R"({"gitVersion":"v1.33.5+k3s1"})", "v1.33.5+k3s1"},
        Case{R"({"gitVersion":"v1.32.1-gke.7","major":1})", "v1.32.1-gke.7"}, Case{R"({})", ""},
        Case{R"({"gitVersion":7})", ""}, Case{R"({"gitVersion":"v"})", ""}, Case{R"({"gitVersion":"1.34.4"})", ""},
        Case{R"({"gitVersion":"v1 \u001b[31mred"})", ""}, Case{"<html>", ""}, Case{"", ""}}) {
    CAPTURE(c.answer);
    CHECK(server_version(c.answer) == c.version);
  }
  CHECK(server_version(R"({"gitVersion":"v)" + std::string(63, '1') + "\"}").empty());

  const auto shown = [](const kube::Object& node) {
    return kube::string_at(node.status(), {"nodeInfo", "kubeletVersion"});
  };
  const kube::Object wish = virtual_node(usual);
  ProviderHealth known = healthy();
  known.version = "v1.34.4";
  const kube::Object node = node_of(wish, known);
  CHECK(shown(node) == "v1.34.4");
  // The next process does not know it yet.
  CHECK_FALSE(update(node, wish).status);
  known.version = "v1.35.0";
  const node_action::Update changes = update(node, wish, known);
  REQUIRE(changes.status);
  CHECK(shown(after(node, changes)) == "v1.35.0");
}

TEST_CASE("the conditions follow resources, network and probes") {
  struct Case {
    const char* title;
    const char* spec;
    ProviderHealth health;
    const char* expected;
  };
  const char* const none = R"({"clusterID": "milan-cluster"})";
  for (const Case& c : {
           Case{"no module", usual, healthy(), "Ready=True MemoryPressure=False DiskPressure=False PIDPressure=False "},
           Case{"nothing, not connected", none, healthy(Network::down),
                "Ready=False MemoryPressure=True DiskPressure=True PIDPressure=True NetworkUnavailable=True "},
           Case{"nothing, connected", none, healthy(Network::up),
                "Ready=False MemoryPressure=True DiskPressure=True PIDPressure=True NetworkUnavailable=False "},
           Case{"resources, connected", usual, healthy(Network::up),
                "Ready=True MemoryPressure=False DiskPressure=False PIDPressure=False NetworkUnavailable=False "},
           Case{"resources, not connected", usual, healthy(Network::down),
                "Ready=False MemoryPressure=False DiskPressure=False PIDPressure=False NetworkUnavailable=True "},
           Case{"not probed", usual, {}, "Ready=False MemoryPressure=False DiskPressure=False PIDPressure=False "},
           Case{"two probes failed",
                usual,
                {.failed_probes = 2, .probed = true},
                "Ready=True MemoryPressure=False DiskPressure=False PIDPressure=False "},
           Case{"three probes failed",
                usual,
                {.failed_probes = 3, .probed = true, .last_error = "no route"},
                "Ready=False MemoryPressure=False DiskPressure=False PIDPressure=False "},
           Case{"no memory", R"({"resourceQuota": {"hard": {"cpu": "2", "memory": "0"}}})", healthy(),
                "Ready=False MemoryPressure=True DiskPressure=True PIDPressure=True "},
       }) {
    CAPTURE(c.title);
    CHECK(conditions(node_of(virtual_node(c.spec), c.health).status()) == c.expected);
  }
}

TEST_CASE("a slice that is granted nothing any more closes its node and leaves it Ready") {
  const auto made = [](std::string_view hard, bool is_of_slice = true) {
    kube::Object wish =
        virtual_node(R"({"clusterID": "milan-cluster", "resourceQuota": {"hard": )" + std::string(hard) + "}}");
    if (is_of_slice) wish.set_label(api::labels::resource_slice_name, "milan");
    return wish;
  };
  constexpr const char* good = "Ready=True MemoryPressure=False DiskPressure=False PIDPressure=False ";
  constexpr const char* bad = "Ready=False MemoryPressure=True DiskPressure=True PIDPressure=True ";
  constexpr const char* zero = R"({"cpu": "0", "memory": "0", "pods": "0"})";
  for (const auto& [hard, expected] : {std::pair{zero, good},
                                       {R"({"cpu": "0", "memory": "8Gi"})", good},
                                       {R"({"cpu": "4", "memory": "0"})", good},
                                       // Of these nothing was ever granted.
                                       {R"({"cpu": "4"})", bad},
                                       {R"({})", bad}}) {
    CAPTURE(hard);
    CHECK(conditions(node_of(made(hard)).status()) == expected);
  }
  // No provider has said so.
  CHECK(conditions(node_of(made(zero, false)).status()) == bad);

  // What is wrong with the provider counts as ever.
  const ProviderHealth silent{.failed_probes = 3, .probed = true, .last_error = "no route"};
  CHECK(conditions(node_of(made(zero), silent).status()) ==
        "Ready=False MemoryPressure=False DiskPressure=False PIDPressure=False ");
  CHECK(unready_reason(node_of(made(zero), silent)) == "the provider does not answer: no route");

  // A Node with pods follows its slice down and up again.
  ProviderHealth closed = healthy();
  closed.closed = Closed::nothing_granted;
  const kube::Object full = node_of(made(R"({"cpu": "4", "memory": "8Gi", "pods": "10"})"));
  const kube::Object emptied = after(full, update(full, made(zero), closed));
  CHECK(conditions(emptied.status()) == good);
  CHECK(kube::string_at(emptied.status(), {"allocatable", "cpu"}) == "0");
  CHECK(
      json::serialize(*kube::find(emptied.spec(), {"taints"})) ==
      R"([{"key":"virtual-node.liqo.io/not-allowed","value":"true","effect":"NoExecute"},{"key":"virtual-node.liqo.io/closed","value":"nothing-granted","effect":"NoSchedule"}])");
  const json::object* ready = kube::find_condition(emptied.status(), "Ready");
  REQUIRE(ready);
  CHECK(kube::string_at(*ready, {"message"}) ==
        "the provider answers, and grants no CPU or no memory at present: pods that run stay, and it gets no new ones");
  const kube::Object back =
      after(emptied, update(emptied, made(R"({"cpu": "4", "memory": "8Gi", "pods": "10"})"), healthy(), 20s));
  CHECK(conditions(back.status()) == good);
  CHECK(kube::array_at(back.spec(), {"taints"}).size() == 1);
}

TEST_CASE("a Node stays Ready, or not, until its provider has been probed") {
  const kube::Object wish = virtual_node(usual), bare = virtual_node(R"({"clusterID": "milan-cluster"})");
  const auto ready = [](const kube::Object& node, std::string_view field) {
    const json::object* condition = kube::find_condition(node.status(), "Ready");
    return condition ? std::string(kube::string_at(*condition, {field})) : "(none)";
  };
  const ProviderHealth unknown;
  const ProviderHealth silent{.failed_probes = 3, .probed = true, .last_error = "no route"};
  CHECK_FALSE(update(node_of(wish), wish, unknown).status);
  const kube::Object unready = node_of(wish, silent);
  CHECK_FALSE(update(unready, wish, unknown).status);
  // Also if something else is to be written.
  const kube::Object shrunk = after(node_of(wish), update(node_of(wish), bare, unknown));
  CHECK(conditions(shrunk.status()) == "Ready=True MemoryPressure=True DiskPressure=True PIDPressure=True ");
  CHECK(ready(after(unready, update(unready, wish)), "status") == "True");
  CHECK(ready(after(node_of(wish), update(node_of(wish), wish, silent)), "status") == "False");

  ProviderHealth refused;
  refused.refusal = "milan does not let rome in any more";
  CHECK(ready(after(node_of(wish), update(node_of(wish), wish, refused)), "message") == refused.refusal);
  kube::Object new_one = node_of(wish);
  new_one.mutable_status()["conditions"] = json::array();
  CHECK(ready(after(new_one, update(new_one, wish, unknown)), "message") == "the provider has not been reached yet");
}

TEST_CASE("what keeps custom resources from being reflected is a condition that comes and goes") {
  const auto condition = [](const kube::Object& node, std::string_view field) {
    for (const json::value& entry : kube::array_at(node.status(), {"conditions"}))
      if (kube::string_at(entry, {"type"}) == "offloading.liqo.io/CustomResources")
        return std::string(kube::string_at(entry, {field}));
    return std::string("(none)");
  };
  const auto wish = virtual_node(usual);
  ProviderHealth health = healthy();
  CHECK(condition(node_of(wish, health), "status") == "(none)");
  health.custom = {CustomState::Reflected::yes, "All."};
  CHECK(condition(node_of(wish, health), "status") == "True");
  health.custom = {CustomState::Reflected::unknown, "Nobody has answered."};
  CHECK(condition(node_of(wish, health), "status") == "Unknown");
  CHECK(condition(node_of(wish, health), "reason") == "CustomResourcesUnknown");
  health.custom = {CustomState::Reflected::no, "widgets.example.org: no definition"};
  kube::Object node = node_of(wish, health);
  CHECK(condition(node, "status") == "False");
  CHECK(condition(node, "reason") == "CustomResourcesNotReflected");
  CHECK(condition(node, "message") == "widgets.example.org: no definition");
  CHECK_FALSE(update(node, wish, health).status.has_value());
  // Each word of it counts, and it goes when nothing is configured any more.
  health.custom->message = "widgets.example.org: no right";
  node = after(node, update(node, wish, health));
  CHECK(condition(node, "message") == "widgets.example.org: no right");
  CHECK(condition(after(node, update(node, wish)), "status") == "(none)");
}

TEST_CASE("the ForeignCluster tells the network's state") {
  const auto cluster = [](std::string_view status) {
    return parse(R"({"metadata": {"name": "milan"}, "status": )" + std::string(status) + "}");
  };
  const auto disabled = cluster(R"({"modules": {"networking": {"enabled": false,
    "conditions": [{"type": "NetworkConnectionStatus", "status": "Pending"}]}}})");
  const auto untold = cluster(R"({"modules": {"networking": {"enabled": true,
    "conditions": [{"type": "NetworkConfigurationStatus", "status": "Ready"}]}}})");
  const auto established = cluster(R"({"modules": {"networking": {"enabled": true,
    "conditions": [{"type": "NetworkConnectionStatus", "status": "Established"}]}}})");
  const auto pending = cluster(R"({"modules": {"networking": {"enabled": true,
    "conditions": [{"type": "NetworkConnectionStatus", "status": "Pending"}]}}})");
  CHECK(network_state(nullptr) == Network::unchecked);
  CHECK(network_state(&disabled) == Network::unchecked);
  CHECK(network_state(&untold) == Network::unchecked);
  CHECK(network_state(&established) == Network::up);
  CHECK(network_state(&pending) == Network::down);
}

TEST_CASE("a Node that is as it should be is not written, but for a heartbeat") {
  const auto wish = virtual_node(usual);
  kube::Object node = node_of(wish);
  // The API server writes amounts in its own way.
  node.mutable_status()["capacity"].as_object()["memory"] = "3072Mi";
  const auto soon = update(node, wish);
  CHECK_FALSE(soon.metadata.has_value());
  CHECK_FALSE(soon.status.has_value());
  const auto later = update(node, wish, healthy(), 301s);
  CHECK_FALSE(later.metadata.has_value());
  REQUIRE(later.status.has_value());
  CHECK(kube::object_at(*later.status, {"status"}).size() == 1);
  CHECK(json::serialize(*later.status).find("lastTransitionTime") == std::string::npos);
  CHECK(json::serialize(*later.status).find(R"({"type":"Ready","lastHeartbeatTime":"2026-11-21T10:05:01Z"})") !=
        std::string::npos);
}

TEST_CASE("labels, annotations and taints that were asked for go with the wish, those of others stay") {
  kube::Object node = node_of(virtual_node(R"({"clusterID": "milan-cluster", "labels": {"a": "1", "b": "2"},
    "annotations": {"x": "1"}, "taints": [{"key": "gpu", "effect": "NoSchedule"}], "resourceQuota": {"hard": {"cpu": "2", "memory": "3Gi"}}})"));
  node.set_label("theirs", "1");
  node.set_annotation("theirs", "1");
  json::array& taints = node.mutable_spec()["taints"].as_array();
  taints.insert(taints.begin(), parse_value(R"({"key": "foreign", "effect": "NoSchedule"})"));

  const auto wish = virtual_node(
      R"({"clusterID": "milan-cluster", "labels": {"a": "3"}, "resourceQuota": {"hard": {"cpu": "2", "memory": "3Gi"}}})");
  const auto changes = update(node, wish);
  CHECK_FALSE(changes.status.has_value());
  REQUIRE(changes.metadata.has_value());
  CHECK(kube::string_at(*changes.metadata, {"metadata", "resourceVersion"}) == "5");
  node = after(node, changes);
  CHECK(node.label("a") == "3");
  CHECK_FALSE(node.has_label("b"));
  CHECK(node.label("theirs") == "1");
  CHECK_FALSE(node.has_annotation("x"));
  CHECK(node.annotation("theirs") == "1");
  CHECK(
      json::serialize(*kube::find(node.spec(), {"taints"})) ==
      R"([{"key":"foreign","effect":"NoSchedule"},{"key":"virtual-node.liqo.io/not-allowed","value":"true","effect":"NoExecute"}])");
  CHECK_FALSE(update(node, wish).metadata.has_value());
  // Our own taint comes back if somebody took it away.
  node.mutable_spec()["taints"] = json::array();
  CHECK(update(node, wish).metadata.has_value());
}

TEST_CASE(
    "the operator's labels and annotations are on every Node, but a VirtualNode's own win, and go with the flag") {
  const auto wish = virtual_node(R"({"clusterID": "milan-cluster", "labels": {"tier": "gold"},
    "annotations": {"note": "mine"}, "resourceQuota": {"hard": {"cpu": "2", "memory": "3Gi"}}})");
  NodeContext extra = ctx;
  extra.extra_labels = {{"tier", "iron"},
                        {"zone", "south"},
                        {"kubernetes.io/arch", "arm64"},
                        {std::string(api::labels::type), "no-virtual-node"}};
  extra.extra_annotations = {{"note", "ours"}, {"owner", "team a, b"}};
  kube::Object node = node_of(wish);
  auto changes = std::get<node_action::Update>(
      plan_node(node, {.virtual_node = api::VirtualNode(wish), .health = healthy(), .ctx = extra}, at(10s)));
  REQUIRE(changes.metadata.has_value());
  node = after(node, changes);
  CHECK(node.label("tier") == "gold");
  CHECK(node.label("zone") == "south");
  CHECK(node.label("kubernetes.io/arch") == "arm64");
  CHECK(node.label(api::labels::type) == api::labels::type_virtual_node);
  CHECK(node.annotation("note") == "mine");
  CHECK(node.annotation("owner") == "team a, b");
  CHECK(forge_node({.virtual_node = api::VirtualNode(wish), .health = healthy(), .ctx = extra}, at()).label("zone") ==
        "south");

  changes = update(node, wish);
  REQUIRE(changes.metadata.has_value());
  node = after(node, changes);
  CHECK_FALSE(node.has_label("zone"));
  CHECK(node.label("kubernetes.io/arch") == "amd64");
  CHECK_FALSE(node.has_annotation("owner"));
  CHECK_FALSE(update(node, wish).metadata.has_value());
}

TEST_CASE("a resource that disappears is advertised no more") {
  kube::Object node =
      node_of(virtual_node(R"({"resourceQuota": {"hard": {"cpu": "2", "memory": "3Gi", "nvidia.com/gpu": "4"}}})"));
  const auto wish = virtual_node(R"({"resourceQuota": {"hard": {"cpu": "4", "memory": "3Gi"}}})");
  const auto changes = update(node, wish);
  REQUIRE(changes.status.has_value());
  CHECK(changes.status->at("status").at("capacity") == parse_value(R"({"cpu": "4", "nvidia.com/gpu": null})"));
  node = after(node, changes);
  CHECK(node.status().at("allocatable") == parse_value(R"({"cpu": "4", "memory": "3Gi", "pods": "110"})"));
  CHECK_FALSE(update(node, wish).status.has_value());
}

TEST_CASE("a node whose grant does not bound pods takes as many as a kubelet does") {
  const auto pods = [](std::string_view hard) {
    const kube::Object node = node_of(virtual_node(R"({"resourceQuota": {"hard": )" + std::string(hard) + "}}"));
    return std::string(kube::string_at(node.status(), {"allocatable", "pods"}));
  };
  CHECK(pods(R"({"cpu": "4", "memory": "3Gi"})") == "110");
  CHECK(pods(R"({"cpu": "4", "memory": "3Gi", "pods": "20"})") == "20");
  CHECK(pods(R"({"cpu": "4", "memory": "3Gi", "pods": "0"})") == "0");
  // What cannot be read bounds them, though nobody knows how.
  CHECK(pods(R"({"cpu": "4", "memory": "3Gi", "pods": "many"})") == "");
  CHECK(pods("{}") == "");
}

TEST_CASE("a condition keeps its time while it says the same, and foreign ones stay") {
  const auto wish = virtual_node(usual);
  kube::Object node = node_of(wish, healthy(Network::up));
  node.mutable_status()["conditions"].as_array().push_back(
      parse_value(R"({"type": "FrequentReboot", "status": "False"})"));
  ProviderHealth dead{.failed_probes = 3, .probed = true, .last_error = "timeout", .network = Network::up};
  auto changes = update(node, wish, dead, 60s);
  REQUIRE(changes.status.has_value());
  node = after(node, changes);
  const auto ready = [&](std::string_view field) {
    for (const json::value& entry : kube::array_at(node.status(), {"conditions"}))
      if (kube::string_at(entry, {"type"}) == "Ready") return std::string(kube::string_at(entry, {field}));
    return std::string();
  };
  CHECK(ready("status") == "False");
  CHECK(ready("reason") == "KubeletNotReady");
  CHECK(ready("lastTransitionTime") == "2026-11-21T10:01:00Z");
  CHECK(ready("message").find("timeout") != std::string::npos);
  CHECK(conditions(node.status()).find("FrequentReboot=False") != std::string::npos);
  // Another error of the same failure is not worth a write; another reason is, without a new transition.
  dead.last_error = "connection refused";
  dead.failed_probes = 30;
  CHECK_FALSE(update(node, wish, dead, 70s).status.has_value());
  changes = update(node, wish, healthy(Network::down), 80s);
  REQUIRE(changes.status.has_value());
  node = after(node, changes);
  CHECK(ready("lastTransitionTime") == "2026-11-21T10:01:00Z");
  CHECK(ready("message").find("network") != std::string::npos);
  // Without a network module its condition goes.
  changes = update(node, wish, healthy(), 90s);
  REQUIRE(changes.status.has_value());
  node = after(node, changes);
  CHECK(ready("status") == "True");
  CHECK(conditions(node.status()).find("NetworkUnavailable") == std::string::npos);
}

TEST_CASE("a node that is no virtual node is refused") {
  const auto wish = virtual_node(usual);
  kube::Object node = node_of(wish);
  node.mutable_metadata()["labels"].as_object().erase("liqo.io/type");
  node.mutable_metadata()["annotations"].as_object().clear();
  CHECK(std::holds_alternative<node_action::Refuse>(plan(node, wish)));
}

TEST_CASE("a node of ours that has lost the label of virtual nodes gets it back") {
  const auto wish = virtual_node(usual);
  kube::Object node = node_of(wish);
  node.mutable_metadata()["labels"].as_object().erase("liqo.io/type");
  const auto changes = update(node, wish);
  REQUIRE(changes.metadata.has_value());
  CHECK(after(node, changes).label("liqo.io/type") == "virtual-node");
}

TEST_CASE("a Node that a machine has taken is not written, and why is said") {
  const auto wish = virtual_node(usual);
  struct Case {
    const char* part;
    const char* mark;
    const char* value;
    const char* words;  ///< "" = it is ours
  };
  for (const Case& c :
       {Case{"status", "machineID", "ab12", "a machine has registered as node milan (its machineID"},
        Case{"status", "bootID", "ab12", "a machine has registered as node milan (its bootID"},
        Case{"status", "machineID", "", ""},
        Case{"spec", "providerID", "aws:///eu-west-1a/i-0abc", "the Node milan has the providerID of a"},
        Case{"spec", "providerID", "", ""}}) {
    CAPTURE(c.mark);
    kube::Object node = node_of(wish);
    if (std::string_view(c.part) == "spec") {
      node.mutable_spec()[c.mark] = c.value;
    } else {
      kube::ensure_object(node.mutable_status(), "nodeInfo")[c.mark] = c.value;
    }
    const NodePlan planned = plan(node, wish);
    const auto* refusal = std::get_if<node_action::Refuse>(&planned);
    CHECK((refusal == nullptr) == std::string_view(c.words).empty());
    if (refusal) CHECK(refusal->why.starts_with(c.words));
  }
}

TEST_CASE("a Node says whose it is, also one that was made before that, and never twice") {
  const auto wish = virtual_node(usual);
  kube::Object node = node_of(wish);
  CHECK(kube::string_at(node.spec(), {"providerID"}) == "liqo://milan-cluster/milan");
  node.mutable_spec().erase("providerID");
  const auto changes = update(node, wish);
  REQUIRE(changes.metadata.has_value());
  CHECK(changes.metadata->at("spec") == parse_value(R"({"providerID": "liqo://milan-cluster/milan"})"));
  // It cannot be changed, whatever becomes of the VirtualNode.
  node.mutable_spec()["providerID"] = "liqo://earlier/milan";
  CHECK_FALSE(update(node, wish).metadata.has_value());
}

TEST_CASE("the architecture of a Node is that of its label") {
  const auto wish = virtual_node(R"({"clusterID": "milan-cluster", "labels": {"kubernetes.io/arch": "arm64"},
    "resourceQuota": {"hard": {"cpu": "2", "memory": "3Gi"}}})");
  kube::Object node = node_of(wish);
  CHECK(kube::string_at(node.status(), {"nodeInfo", "architecture"}) == "arm64");
  CHECK_FALSE(update(node, wish).status.has_value());
  const auto changes = update(node, virtual_node(usual));
  REQUIRE(changes.status.has_value());
  CHECK(kube::string_at(changes.status->at("status"), {"nodeInfo", "architecture"}) == "amd64");
}

TEST_CASE("a Node of the Go version is taken over") {
  const auto wish = virtual_node(usual);
  kube::Object node = node_of(wish);
  node.mutable_metadata()["annotations"] = json::object();
  node.set_annotation("virtual-kubelet.io/last-applied-object-meta",
                      R"({"labels": {"old": "1"}, "annotations": {"was": "x"}})");
  node.set_annotation("virtual-kubelet.io/last-applied-node-status", "{}");
  node.set_annotation("was", "x");
  node.set_label("old", "1");
  const auto changes = update(node, wish);
  REQUIRE(changes.metadata.has_value());
  node = after(node, changes);
  CHECK_FALSE(node.has_label("old"));
  CHECK_FALSE(node.has_annotation("was"));
  CHECK_FALSE(node.has_annotation("virtual-kubelet.io/last-applied-node-status"));
  CHECK_FALSE(update(node, wish).metadata.has_value());
}

TEST_CASE("wishes and nodes of the wrong form throw nothing") {
  const auto wish = virtual_node(R"({"clusterID": 5, "labels": {"a": 1}, "annotations": [], "taints": [1, {"key": 3}],
    "resourceQuota": {"hard": {"cpu": [], "memory": {}}}, "images": "x", "storageClasses": 4})");
  (void)node_of(wish);
  (void)update(parse(R"({"metadata": {"name": "milan", "labels": {"liqo.io/type": "virtual-node"}, "annotations":
    {"offloading.liqo.io/applied-node": "[1"}}, "spec": {"taints": [null, 4]}, "status": {"conditions": [1, null], "capacity": 3}})"),
               wish);
}

TEST_CASE("a template adds to a Node what the VirtualNode does not say, and nothing that Kubernetes goes by") {
  const kube::Object options = parse(R"({"kind": "VkOptionsTemplate", "metadata": {"name": "x"}, "spec": {
    "nodeExtraLabels": {"zone": "south", "tier": "gold", "topology.kubernetes.io/zone": "a", "number": 3, "bad key": "x",
      "node-role.kubernetes.io/control-plane": "", "liqo.io/type": "none", "long": "-"},
    "nodeExtraAnnotations": {"note": "of template", "who": "ops", "number": 3, "offloading.liqo.io/applied-node": "{}",
      "cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}})");
  const auto [extras, refused] = node_extras(options);
  CHECK(json::value(extras.labels) ==
        parse_value(R"({"zone": "south", "tier": "gold", "topology.kubernetes.io/zone": "a"})"));
  CHECK(refused.size() == 7);
  CHECK(std::ranges::find(refused, "nodeExtraLabels \"node-role.kubernetes.io/control-plane\"") != refused.end());
  CHECK(std::ranges::find(refused, "nodeExtraAnnotations \"offloading.liqo.io/applied-node\"") != refused.end());
  const kube::Object wish =
      virtual_node(R"({"clusterID": "m", "labels": {"zone": "north"}, "annotations": {"note": "its own"}})");
  const kube::Object node = node_of(with_extras(wish, extras));
  CHECK(node.label("zone") == "north");
  CHECK(node.label("tier") == "gold");
  CHECK(node.annotation("note") == "its own");
  CHECK(node.annotation("who") == "ops");
  CHECK(node.annotation("cluster-autoscaler.kubernetes.io/scale-down-disabled") == "true");
  // Entries that the template no longer has are removed; if it cannot be read, those that it had stay.
  const kube::Object held = with_extras(wish, applied_extras(node));
  CHECK_FALSE(update(node, held).metadata);
  const kube::Object without = after(node, update(node, wish));
  CHECK_FALSE(without.has_label("tier"));
  CHECK_FALSE(without.has_annotation("who"));
  CHECK(without.label("zone") == "north");
  // A spec that is not there, and one that is nonsense.
  CHECK(node_extras(parse(R"({"metadata": {"name": "x"}})")).usable.labels.empty());
  CHECK(node_extras(parse(R"({"metadata": {"name": "x"}, "spec": {"nodeExtraLabels": "x"}})")).usable.labels.empty());
}

}  // namespace liqo::core
