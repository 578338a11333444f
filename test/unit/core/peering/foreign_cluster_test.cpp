// Role, modules and conditions of a ForeignCluster, for each state of a peer.
#include "core/peering/foreign_cluster.hpp"

#include "../objects.hpp"
#include "liqo/api/foreign_cluster.hpp"

namespace liqo::core {
namespace {

using namespace testing;

kube::Object foreign_cluster(std::string_view status = "{}") {
  kube::Object made = forge_foreign_cluster("milan");
  made.mutable_metadata()["generation"] = 3;
  made.mutable_status() = parse_value(status).get_object();
  return made;
}

const kube::Object& tenant() {
  static const kube::Object made = parse(R"({"metadata": {"name": "milan"}, "spec": {"clusterID": "milan"},
    "status": {"tenantNamespace": "liqo-tenant-milan", "authParams": {"ca": "QQ=="}}})");
  return made;
}
const kube::Object& identity() {
  static const kube::Object made =
      parse(R"({"metadata": {"name": "controlplane-milan", "namespace": "liqo-tenant-milan"},
    "spec": {"clusterID": "milan", "type": "ControlPlane", "namespace": "liqo-tenant-rome",
             "authParams": {"apiServer": "https://milan:6443", "proxyURL": "http://proxy"}},
    "status": {"kubeconfigSecretRef": {"name": "kubeconfig-controlplane-milan"}}})");
  return made;
}
const kube::Object& configuration() {
  static const kube::Object made =
      parse(R"({"metadata": {"name": "milan", "namespace": "liqo-tenant-milan", "generation": 1},
    "spec": {"remote": {"cidr": {"pod": ["10.2.0.0/16"]}}}, "status": {"remote": {"cidr": {"pod": ["10.62.0.0/16"]}},
    "conditions": [{"type": "NetworkCIDRsConfigured", "status": "True", "observedGeneration": 1}]}})");
  return made;
}

kube::Object virtual_node(std::string_view name, std::string_view kubelet = "Running", bool create_node = true) {
  kube::Object made = parse(R"({"metadata": {"name": ")" + std::string(name) + R"("}, "spec": {"clusterID": "milan"},
      "status": {"conditions": [{"type": "VirtualKubelet", "status": ")" +
                            std::string(kubelet) + R"("}]}})");
  made.mutable_spec()["createNode"] = create_node;
  return made;
}
kube::Object node(std::string_view name, std::string_view ready = "True") {
  return parse(R"({"metadata": {"name": ")" + std::string(name) + R"("},
      "status": {"conditions": [{"type": "Ready", "status": ")" +
               std::string(ready) + R"("}]}})");
}

/// "role | type=status,... of networking | authentication | offloading | of the cluster", a module off being "-".
std::string summary(const json::object& status) {
  const auto conditions = [](const json::value& of) {
    std::string text;
    for (const json::value& entry : kube::array_at(of, {"conditions"}))
      text += (text.empty() ? "" : ",") + std::string(kube::string_at(entry, {"type"})) + "=" +
              std::string(kube::string_at(entry, {"status"}));
    return text;
  };
  std::string text(kube::string_at(status, {"role"}));
  for (const char* name : {"networking", "authentication", "offloading"}) {
    const json::value* module = kube::find(status, {"modules", name});
    REQUIRE(module);
    text += "|" + (kube::bool_at(*module, {"enabled"}) ? conditions(*module) : "-" + conditions(*module));
  }
  return text + "|" + conditions(status);
}

}  // namespace

TEST_CASE("role, modules and conditions follow from what there is of the peer") {
  struct Case {
    const char* title;
    PeerState peer;
    const char* expected;
  };
  kube::Object bare_tenant = tenant();
  bare_tenant.mutable_status().erase("authParams");
  kube::Object tolerated = bare_tenant;
  tolerated.mutable_spec()["authzPolicy"] = "TolerateNoHandshake";
  kube::Object nowhere = tolerated;
  nowhere.mutable_status().erase("tenantNamespace");
  kube::Object bare_identity = identity();
  bare_identity.mutable_status().clear();
  kube::Object elsewhere = configuration();
  elsewhere.mutable_metadata()["namespace"] = "default";
  for (const Case& c : {
           Case{"nothing", {}, "Unknown|-|-|-|"},
           Case{"network only", {.configurations = {configuration()}}, "Unknown|NetworkConfigurationStatus=Ready|-|-|"},
           Case{"a provider with network",
                {.identity = identity(), .configurations = {configuration()}},
                "Provider|NetworkConfigurationStatus=Ready|AuthIdentityControlPlaneStatus=Ready|-|"},
           Case{"a provider whose network is that of somebody else's namespace",
                {.identity = identity(), .configurations = {elsewhere}},
                "Provider|NetworkConfigurationStatus=NotReady|AuthIdentityControlPlaneStatus=Ready|-|"},
           Case{"tenant", {.tenant = tenant()}, "Consumer|-|AuthTenantStatus=Ready|-|"},
           Case{"tenant without its parameters", {.tenant = bare_tenant}, "Consumer|-|AuthTenantStatus=NotReady|-|"},
           Case{"tenant without handshake", {.tenant = tolerated}, "Consumer|-|AuthTenantStatus=Ready|-|"},
           Case{"tenant without namespace", {.tenant = nowhere}, "Consumer|-|AuthTenantStatus=NotReady|-|"},
           Case{"identity, not probed yet",
                {.identity = identity(), .has_credentials = true},
                "Provider|-NetworkConfigurationStatus=NotReady|AuthIdentityControlPlaneStatus=Ready|-|"},
           Case{"identity without Secret",
                {.identity = bare_identity},
                "Provider|-NetworkConfigurationStatus=NotReady|AuthIdentityControlPlaneStatus=NotReady|-|"},
           Case{"identity, answering",
                {.identity = identity(), .has_credentials = true, .api_server_answers = true},
                "Provider|-NetworkConfigurationStatus=NotReady|AuthIdentityControlPlaneStatus=Ready|-|APIServerStatus="
                "Established"},
           Case{"identity, silent",
                {.identity = identity(), .has_credentials = true, .api_server_answers = false},
                "Provider|-NetworkConfigurationStatus=NotReady|AuthIdentityControlPlaneStatus=Ready|-|APIServerStatus="
                "Error"},
           Case{"a Secret made by hand",
                {.has_credentials = true, .server = "https://milan:6443", .api_server_answers = true},
                "Provider|-NetworkConfigurationStatus=NotReady||-|APIServerStatus=Established"},
           Case{"both ways",
                {.tenant = tenant(), .identity = identity()},
                "ConsumerAndProvider|-NetworkConfigurationStatus=NotReady|AuthTenantStatus=Ready,"
                "AuthIdentityControlPlaneStatus=Ready|-|"},
           Case{"one node, ready",
                {.virtual_nodes = {virtual_node("a")}, .nodes = {node("a")}},
                "Provider|-NetworkConfigurationStatus=NotReady|-|OffloadingVirtualNodeStatus=Ready,"
                "OffloadingNodeStatus=Ready|"},
           Case{"one node, not there",
                {.virtual_nodes = {virtual_node("a", "Creating")}},
                "Provider|-NetworkConfigurationStatus=NotReady|-|OffloadingVirtualNodeStatus=NotReady,"
                "OffloadingNodeStatus=NotReady|"},
           Case{"one of two",
                {.virtual_nodes = {virtual_node("a"), virtual_node("b", "Creating")},
                 .nodes = {node("a"), node("b", "False")}},
                "Provider|-NetworkConfigurationStatus=NotReady|-|OffloadingVirtualNodeStatus=SomeNotReady,"
                "OffloadingNodeStatus=SomeNotReady|"},
           Case{"none wanted",
                {.virtual_nodes = {virtual_node("a", "Running", false)}},
                "Provider|-NetworkConfigurationStatus=NotReady|-|OffloadingVirtualNodeStatus=Ready,"
                "OffloadingNodeStatus=Ready|"},
           Case{"a node that is not expected",
                {.virtual_nodes = {virtual_node("a")}, .nodes = {node("z")}},
                "Provider|-NetworkConfigurationStatus=NotReady|-|OffloadingVirtualNodeStatus=Ready,"
                "OffloadingNodeStatus=NotReady|"},
       }) {
    CAPTURE(c.title);
    CHECK(summary(forge_foreign_cluster_status(foreign_cluster(), c.peer, at())) == c.expected);
    CHECK(has_anything(c.peer) == (std::string_view(c.title) != "nothing"));
  }
}

TEST_CASE("what is declared about a provider's addresses stands in one condition") {
  struct Case {
    const char *title, *annotation, *status, *expected;
  };
  constexpr const char* older = R"({"role": "Provider"})";
  constexpr const char* told = R"({"role": "Provider", "modules": {"networking": {"enabled": false, "conditions": [
    {"type": "NetworkConfigurationStatus", "status": "NotReady", "reason": "PodAddressesUnchecked", "message": "..."}]}}})";
  constexpr const char* declared = R"({"role": "Provider", "modules": {"networking": {"enabled": false, "conditions": [
    {"type": "NetworkConfigurationStatus", "status": "Ready", "reason": "PodAddressesDeclared"}]}}})";
  for (const Case& c : {
           Case{"a new peering", nullptr, "{}", "NotReady PodAddressesUndeclared"},
           Case{"one that did not provide yet", nullptr, R"({"role": "Consumer"})", "NotReady PodAddressesUndeclared"},
           Case{"ranges", "10.2.0.0/16, fd00:2::/64", "{}", "Ready PodAddressesDeclared"},
           Case{"none", "none", "{}", "None PodAddressesNone"},
           Case{"nothing in it", "", "{}", "None PodAddressesNone"},
           Case{"no range", "10.2.0.0", "{}", "NotReady PodAddressesInvalid"},
           Case{"older", nullptr, older, "NotReady PodAddressesUnchecked"},
           Case{"older, both ways", nullptr, R"({"role": "ConsumerAndProvider"})", "NotReady PodAddressesUnchecked"},
           Case{"older, and told", nullptr, told, "NotReady PodAddressesUnchecked"},
           Case{"older, and declared now", "10.2.0.0/16", told, "Ready PodAddressesDeclared"},
           Case{"the declaration taken back", nullptr, declared, "NotReady PodAddressesUndeclared"},
       }) {
    CAPTURE(c.title);
    kube::Object before = foreign_cluster(c.status);
    if (c.annotation) before.set_annotation("liqo.io/remote-pod-cidrs", c.annotation);
    const PeerState peer{.identity = identity()};
    kube::Object after = before;
    after.mutable_status() = forge_foreign_cluster_status(before, peer, at());
    const auto& conditions = kube::array_at(after.status(), {"modules", "networking", "conditions"});
    REQUIRE(conditions.size() == 1);
    CHECK(std::string(kube::string_at(conditions.at(0), {"status"})) + " " +
              std::string(kube::string_at(conditions.at(0), {"reason"})) ==
          c.expected);
    CHECK(forge_foreign_cluster_status(after, peer, at()) == after.status());
    // The warning comes with the first status that says so, and with no other.
    const std::string_view title = c.title;
    CHECK(newly_unchecked(before, after).empty() == (title != "older" && title != "older, both ways"));
    CHECK(newly_unchecked(after, after).empty());
  }
}

TEST_CASE("addresses and namespaces are those of the identity, or of the Secret and the tenant") {
  json::object status =
      forge_foreign_cluster_status(foreign_cluster(), {.tenant = tenant(), .identity = identity()}, at());
  CHECK(status["observedGeneration"] == 3);
  CHECK(status["apiServerUrl"] == "https://milan:6443");
  CHECK(status["foreignProxyUrl"] == "http://proxy");
  CHECK(status["tenantNamespace"] == parse_value(R"({"local": "liqo-tenant-milan", "remote": "liqo-tenant-rome"})"));
  status = forge_foreign_cluster_status(
      foreign_cluster(), {.tenant = tenant(), .has_credentials = true, .server = "https://10.0.0.1"}, at());
  CHECK(status["apiServerUrl"] == "https://10.0.0.1");
  CHECK_FALSE(status.contains("foreignProxyUrl"));
  CHECK(status["tenantNamespace"] == parse_value(R"({"local": "liqo-tenant-milan"})"));
  const kube::Object before = foreign_cluster(json::serialize(status));
  CHECK_FALSE(forge_foreign_cluster_status(before, {}, at()).contains("tenantNamespace"));
  CHECK_FALSE(forge_foreign_cluster_status(before, {}, at()).contains("apiServerUrl"));
}

TEST_CASE("a provider that has taken our rights away is told of by the identity, until it gives them back") {
  const kube::WallTime now{};
  PeerState peer{.identity = identity(), .has_credentials = true};
  peer.withdrawal = describe_withdrawal("milan", "liqo-tenant-rome");
  kube::Object object = foreign_cluster();
  CHECK(withdrawal_note(object).empty());
  object.mutable_status() = forge_foreign_cluster_status(object, peer, now);
  CHECK(summary(object.status()).contains("AuthIdentityControlPlaneStatus=NotReady"));
  CHECK(withdrawal_note(object) == peer.withdrawal);
  CHECK(withdrawal_note(object).contains("liqoctl unpeer"));
  // Credentials that were made by hand have no Identity that shows the withdrawal.
  PeerState by_hand{.has_credentials = true, .withdrawal = peer.withdrawal};
  kube::Object other = foreign_cluster();
  other.mutable_status() = forge_foreign_cluster_status(other, by_hand, now);
  CHECK(withdrawal_note(other) == peer.withdrawal);
  peer.withdrawal.clear();
  object.mutable_status() = forge_foreign_cluster_status(object, peer, now);
  CHECK(withdrawal_note(object).empty());
  CHECK(summary(object.status()).contains("AuthIdentityControlPlaneStatus=Ready"));
}

TEST_CASE("an unchanged peer gives an equal status, and a time changes with its status only") {
  PeerState peer{.tenant = tenant(), .identity = identity(), .has_credentials = true, .api_server_answers = true};
  const json::object first = forge_foreign_cluster_status(foreign_cluster(), peer, at());
  const kube::Object stored = foreign_cluster(json::serialize(first));
  CHECK(forge_foreign_cluster_status(stored, peer, at(std::chrono::hours(1))) == first);
  // Until it is known again, what was known stands.
  peer.api_server_answers.reset();
  CHECK(forge_foreign_cluster_status(stored, peer, at(std::chrono::hours(1))) == first);
  peer.api_server_answers = false;
  const json::object later = forge_foreign_cluster_status(stored, peer, at(std::chrono::hours(1)));
  CHECK(kube::string_at(kube::array_at(later, {"conditions"})[0], {"lastTransitionTime"}) == "2026-11-21T11:00:00Z");
  CHECK(kube::find(later, {"modules"})->get_object() == kube::find(first, {"modules"})->get_object());
}

TEST_CASE("what is not known of a status stays") {
  const kube::Object before = foreign_cluster(R"({"later": 1, "modules": {"storage": {"enabled": true}}, "role": 7})");
  const json::object status = forge_foreign_cluster_status(before, {}, at());
  CHECK(kube::int_at(status.at("later"), {}) == 1);
  CHECK(kube::bool_at(*kube::find(status, {"modules", "storage"}), {"enabled"}));
  CHECK(kube::string_at(status, {"role"}) == "Unknown");
}

TEST_CASE("a peer is given up only where an operator says so and nothing answers") {
  struct Case {
    const char *annotation, *server;
    bool expected;
  };
  for (const Case& c : {Case{"true", "", true}, Case{"true", "Error", true}, Case{"true", "Established", false},
                        Case{"True", "Error", false}, Case{"", "Error", false}}) {
    CAPTURE(c.annotation);
    CAPTURE(c.server);
    kube::Object fc = foreign_cluster();
    fc.set_annotation("liqo.io/foreign-cluster-permanently-unreachable", c.annotation);
    if (*c.server)
      fc.mutable_status()["conditions"] = json::array{json::object{{"type", "APIServerStatus"}, {"status", c.server}}};
    CHECK(api::ForeignCluster(fc).is_permanently_unreachable() == c.expected);
  }
}

TEST_CASE("a ForeignCluster of ours is known again") {
  const kube::Object made = forge_foreign_cluster("milan");
  CHECK(is_made_by_us(made));
  CHECK(made.label("liqo.io/remote-cluster-id") == "milan");
  CHECK(api::ForeignCluster(made).cluster_id() == "milan");
  CHECK(api::ForeignCluster(made).role() == "Unknown");
  CHECK_FALSE(is_made_by_us(parse(R"({"metadata": {"name": "milan"}})")));
}

}  // namespace liqo::core
