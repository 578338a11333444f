// Which EndpointSlice a consumer's ShadowEndpointSlice makes, and which addresses are left out of it.
#include "core/reflection/endpoint_slice_plan.hpp"

#include "../objects.hpp"
#include "core/addresses/network_configuration.hpp"

namespace liqo::core::reflection {
namespace {

using namespace testing;

/// As rome sends it: one endpoint for each address.
kube::Object shadow(const std::vector<std::string>& addresses, std::string_view conditions = R"({"ready": true})",
                    std::string_view type = "IPv4") {
  std::string endpoints;
  for (const std::string& address : addresses)
    endpoints += std::string(endpoints.empty() ? "" : ",") + R"({"addresses": [")" + address + R"("], "conditions": )" +
                 std::string(conditions) +
                 R"(, "nodeName": "rome", "zone": "a", "hints": {"forZones": [{"name": "a"}]},
                    "targetRef": {"kind": "RemotePod", "namespace": "shop", "name": "web", "uid": "u"}})";
  return parse(R"({"apiVersion": "offloading.liqo.io/v1beta1", "kind": "ShadowEndpointSlice",
    "metadata": {"name": "web-1", "namespace": "shop-rome", "uid": "shadow-uid", "labels": {
      "offloading.liqo.io/origin": "rome", "offloading.liqo.io/destination": "milan",
      "endpointslice.kubernetes.io/managed-by": "endpointslice.reflection.liqo.io",
      "kubernetes.io/service-name": "web"}},
    "spec": {"template": {"addressType": ")" +
               std::string(type) + R"(", "endpoints": [)" + endpoints + R"(],
      "ports": [{"port": 80, "protocol": "TCP"}]}}})");
}

/// Pods 10.10/16 and 10.11/16 of a cluster are reached at 10.30/16 and 10.50/16.
kube::Object configuration(std::string_view name = "rome", std::string_view status = "True", int generation = 2) {
  return parse(R"({"metadata": {"name": ")" + std::string(name) +
               R"(", "namespace": "liqo-tenant-rome", "generation": )" + std::to_string(generation) + R"(},
    "spec": {"remote": {"cidr": {"pod": ["10.10.0.0/16", "10.11.0.0/16"], "external": ["10.70.0.0/16"]}}},
    "status": {"remote": {"cidr": {"pod": ["10.30.0.0/16", "10.50.0.0/16"], "external": ["10.71.0.0/16"]}},
               "conditions": [{"type": "NetworkCIDRsConfigured", "observedGeneration": 2, "status": ")" +
               std::string(status) + R"("}]}})");
}

kube::Object peer(std::string_view status = "{}", const char* declared = nullptr) {
  kube::Object made = parse(R"({"metadata": {"name": "rome"}, "spec": {"clusterID": "rome"}})");
  made.mutable_status() = parse_value(status).get_object();
  if (declared) made.set_annotation("liqo.io/remote-pod-cidrs", declared);
  return made;
}

/// What milan knows and has declared.
struct Milan {
  std::string policy = R"({"endpointCIDRs": ["10.1.0.0/16", "fd00:1::/64"]})";
  std::vector<kube::Object> configurations;
  std::optional<kube::Object> foreign_cluster = peer();
  std::string consumer = "rome";
  OwnAddresses own{*parse_ranges("10.2.0.0/16")};
  bool denies_direct = false;
  IpMapping turin;  ///< of a third cluster
  std::size_t room = max_consumer_endpoints;

  ConsumerAddresses addresses() const {
    return ConsumerAddresses::of("rome", "liqo-tenant-rome",
                                 {.policy = read_pod_policy(policy),
                                  .foreign_cluster = foreign_cluster ? &*foreign_cluster : nullptr,
                                  .configurations = configurations});
  }
  EndpointSlicePlan plan(const kube::Object& shadow, const kube::Object* live = nullptr) const {
    const ConsumerAddresses allowed = addresses();
    const auto rules = read_pod_policy(policy).value_or(PodPolicy());
    return plan_endpoint_slice(shadow, live,
                               {.consumer = consumer,
                                .addresses = allowed,
                                .policy = rules,
                                .own = own,
                                .reachable = is_reachable(foreign_cluster ? &*foreign_cluster : nullptr),
                                .room = room,
                                .map_direct =
                                    [this](const std::string& cluster, const IpAddress& address) {
                                      return cluster == "turin" ? turin.find(address) : std::nullopt;
                                    },
                                .denies_direct = denies_direct,
                                .provider = "milan"});
  }
};

/// What is applied; null = nothing is.
const kube::Object* wanted_by(const EndpointSlicePlan& plan) {
  const auto* due = std::get_if<endpoint_slice_action::Apply>(&plan.action);
  return due ? &due->wanted : nullptr;
}

/// The UID of what is removed; "" = nothing is.
std::string removed_by(const EndpointSlicePlan& plan) {
  const auto* ends = std::get_if<endpoint_slice_action::Remove>(&plan.action);
  return ends ? ends->uid : "";
}

bool awaits_end(const EndpointSlicePlan& plan) {
  return std::holds_alternative<endpoint_slice_action::AwaitEnd>(plan.action);
}

std::vector<std::string> addresses_of(const EndpointSlicePlan& plan) {
  std::vector<std::string> found;
  REQUIRE(wanted_by(plan));
  for (const json::value& endpoint : kube::array_at(wanted_by(plan)->tree(), {"endpoints"}))
    for (const json::value& address : kube::array_at(endpoint, {"addresses"})) found.emplace_back(address.get_string());
  return found;
}

/// What the server has once the plan is carried out.
kube::Object applied(const EndpointSlicePlan& plan) {
  REQUIRE(wanted_by(plan));
  kube::Object live = *wanted_by(plan);
  live.mutable_metadata()["uid"] = "slice-uid";
  return live;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a new ShadowEndpointSlice becomes an EndpointSlice of its own") {
  const Milan milan;
  const kube::Object given = shadow({"10.1.0.5"});
  const auto plan = milan.plan(given);
  REQUIRE(wanted_by(plan));
  const kube::Object& made = *wanted_by(plan);
  CHECK(made.key() == kube::ObjectKey{"shop-rome", "web-1"});
  CHECK(made.api_version() == "discovery.k8s.io/v1");
  CHECK(made.label("liqo.io/managed-by") == "shadowendpointslice");
  CHECK(made.label("kubernetes.io/service-name") == "web");
  CHECK(made.label("endpointslice.kubernetes.io/managed-by") == "endpointslice.reflection.liqo.io");
  CHECK(made.label("offloading.liqo.io/origin") == "rome");
  const auto owner = made.controller();
  REQUIRE(owner);
  CHECK(owner->kind == "ShadowEndpointSlice");
  CHECK(owner->uid == "shadow-uid");
  CHECK(owner->block_owner_deletion);
  CHECK(kube::string_at(made.tree(), {"addressType"}) == "IPv4");
  CHECK(made.tree().at("endpoints") ==
        parse_value(R"([{"addresses": ["10.1.0.5"], "conditions": {"ready": true}, "nodeName": "rome",
          "targetRef": {"kind": "RemotePod", "namespace": "shop", "name": "web", "uid": "u"}}])"));
  CHECK(made.tree().at("ports") == parse_value(R"([{"name": "", "port": 80, "protocol": "TCP"}])"));
  CHECK(plan.left_out.empty());
  CHECK(plan.left_out_words.empty());
}

TEST_CASE("what is as it should be is not written, and what somebody changed is") {
  const Milan milan;
  const kube::Object given = shadow({"10.1.0.5"});
  const kube::Object live = applied(milan.plan(given));
  CHECK_FALSE(wanted_by(milan.plan(given, &live)));
  struct Case {
    const char* title;
    std::function<void(kube::Object&)> change;
    bool written;
  };
  const std::vector<Case> cases{
      {"a label of others", [](kube::Object& slice) { slice.set_label("team", "a"); }, false},
      {"a label of ours", [](kube::Object& slice) { slice.set_label("kubernetes.io/service-name", "b"); }, true},
      {"endpoints", [](kube::Object& slice) { slice.tree()["endpoints"] = json::array(); }, true},
      {"ports", [](kube::Object& slice) { slice.tree().erase("ports"); }, true},
  };
  for (const Case& each : cases) {
    CAPTURE(each.title);
    kube::Object changed = live;
    each.change(changed);
    const auto plan = milan.plan(given, &changed);
    CHECK((wanted_by(plan) != nullptr) == each.written);
    if (wanted_by(plan)) CHECK(wanted_by(plan)->uid() == "slice-uid");
  }
  // The digest shows that something is to be removed.
  kube::Object fewer = given;
  fewer.mutable_metadata()["labels"].as_object().erase("offloading.liqo.io/destination");
  CHECK(wanted_by(milan.plan(fewer, &live)));
  // No endpoints are written as an empty list, which a server may leave out.
  kube::Object empty = applied(milan.plan(shadow({})));
  empty.tree()["endpoints"] = nullptr;
  CHECK_FALSE(wanted_by(milan.plan(shadow({}), &empty)));
}

TEST_CASE("an EndpointSlice that was not made for it is not touched") {
  const Milan milan;
  const kube::Object given = shadow({"10.1.0.5"});
  kube::Object foreign = parse(R"({"metadata": {"name": "web-1", "namespace": "shop-rome", "uid": "f"},
    "addressType": "IPv4", "endpoints": []})");
  auto plan = milan.plan(given, &foreign);
  CHECK_FALSE(wanted_by(plan));
  CHECK(removed_by(plan).empty());
  CHECK(plan.refusal == "an EndpointSlice of this name exists that was not made for this ShadowEndpointSlice");
  // That of an earlier ShadowEndpointSlice of the name goes by itself, and so does one that is being deleted.
  kube::Object earlier = applied(milan.plan(given));
  kube::Object next = given;
  next.mutable_metadata()["uid"] = "another";
  plan = milan.plan(next, &earlier);
  CHECK(awaits_end(plan));
  CHECK(plan.refusal.empty());
  earlier.mutable_metadata()["deletionTimestamp"] = "2026-11-21T10:00:00Z";
  CHECK(awaits_end(milan.plan(given, &earlier)));
}

TEST_CASE("an EndpointSlice of ours that has lost its controller goes, in twins of consumers") {
  Milan milan;
  kube::Object orphan = applied(milan.plan(shadow({"10.1.0.5"})));
  CHECK_FALSE(is_orphan(orphan));
  orphan.mutable_metadata().erase("ownerReferences");
  CHECK(is_orphan(orphan));
  const auto plan = milan.plan(shadow({"10.1.0.5"}), &orphan);
  CHECK(removed_by(plan) == "slice-uid");
  CHECK(plan.refusal.empty());
  milan.consumer = "";
  CHECK(removed_by(milan.plan(shadow({"10.1.0.5"}), &orphan)).empty());
  orphan.set_label("liqo.io/managed-by", "somebody");
  CHECK_FALSE(is_orphan(orphan));
}

TEST_CASE("ports that Kubernetes would refuse make none, and end what there was") {
  struct Case {
    std::string ports, refusal;
  };
  std::string many;
  for (int i = 0; i < 101; ++i) many += (i > 0 ? "," : "") + (R"({"name": "p)" + std::to_string(i)) + R"("})";
  const std::vector<Case> cases{
      {"[]", ""},
      {R"([{"port": 1}, {"name": "b", "protocol": "UDP", "port": 65535}, {"name": "c", "protocol": "SCTP"}])", ""},
      {R"([{"name": null, "protocol": null, "port": null}])", ""},
      {R"([{"protocol": "FOO"}])", "the protocol of a port is not TCP, UDP or SCTP: \"FOO\""},
      {R"([{"protocol": "tcp\u0007"}])", "the protocol of a port is not TCP, UDP or SCTP: \"tcp?\""},
      {R"([{"protocol": 6}])", "the protocol of a port is not TCP, UDP or SCTP: \"\""},
      {R"([{"port": 80}, {"name": "", "port": 81}])", "two ports have the name \"\""},
      {R"([{"name": "a"}, {"name": "b"}, {"name": "a"}])", "two ports have the name \"a\""},
      {R"([{"name": "A"}])", "the name of a port is no DNS label: \"A\""},
      {R"([{"name": 1}])", "the name of a port is no DNS label: \"\""},
      {R"([{"port": 0}])", "the number of a port is not in 1 to 65535"},
      {R"([{"port": 65536}])", "the number of a port is not in 1 to 65535"},
      {R"([{"port": "80"}])", "the number of a port is not in 1 to 65535"},
      {"[80]", "one of the ports is no object"},
      {"[" + many + "]", "ShadowEndpointSlice shop-rome/web-1 has more than 100 ports"},
  };
  const Milan milan;
  const kube::Object live = applied(milan.plan(shadow({"10.1.0.5"})));
  for (const Case& each : cases) {
    CAPTURE(each.ports);
    kube::Object given = shadow({"10.1.0.5"});
    kube::ensure_object(given.mutable_spec(), "template")["ports"] = parse_value(each.ports);
    const auto plan = milan.plan(given, &live);
    CHECK(plan.refusal == each.refusal);
    CHECK(removed_by(plan) == (each.refusal.empty() ? "" : "slice-uid"));
    CHECK((wanted_by(plan) != nullptr) == each.refusal.empty());
  }
}

TEST_CASE("endpoints of a slice and of a consumer are bounded") {
  Milan milan;
  Texts many;
  for (int i = 0; i < 150; ++i) many.push_back("10.1.0." + std::to_string(i + 1));
  auto plan = milan.plan(shadow(many));
  CHECK(addresses_of(plan).size() == 100);
  CHECK(plan.endpoints == 100);
  CHECK_FALSE(plan.crowded);
  CHECK(plan.left_out == R"x(["50 endpoints (one slice has 100 at most)"])x");
  CHECK(plan.left_out_words.starts_with(
      "50 of 150 addresses are left out here: 50 endpoints (one slice has 100 at most); "));
  milan.room = 3;
  plan = milan.plan(shadow(many));
  CHECK(addresses_of(plan) == Texts{"10.1.0.1", "10.1.0.2", "10.1.0.3"});
  CHECK(plan.crowded);
  CHECK(plan.left_out == R"x(["147 endpoints (all slices of a consumer have 10000 at most)"])x");
  milan.room = 0;
  CHECK(addresses_of(milan.plan(shadow(many))).empty());
  milan.room = max_consumer_endpoints;
  // What is there already is not repeated, and takes no room.
  Texts twice(500, "10.1.0.5");
  twice.push_back("10.1.0.6");
  plan = milan.plan(shadow(twice));
  CHECK(addresses_of(plan) == Texts{"10.1.0.5", "10.1.0.6"});
  CHECK(plan.left_out_words.empty());
  // One address in two spellings is one.
  CHECK(addresses_of(milan.plan(shadow({"fd00:1::5", "fd00:1:0::5"}, "{}", "IPv6"))) == Texts{"fd00:1::5"});
  // Of an endpoint the first address counts.
  kube::Object given = shadow({"10.1.0.5", "8.8.8.8"});
  for (const std::size_t at : {0uz, 1uz})
    kube::ensure_object(given.mutable_spec(), "template")
        .at("endpoints")
        .at(at)
        .at("addresses")
        .as_array()
        .push_back("10.1.0.7");
  CHECK(addresses_of(milan.plan(given)) == Texts{"10.1.0.5"});
}

TEST_CASE("addresses are judged one by one, as they are reached from here") {
  struct Case {
    const char* title;
    std::string policy;
    const char* annotation;
    std::vector<kube::Object> configurations;
    Texts given, kept;
  };
  const std::string ranges = R"({"endpointCIDRs": ["10.1.0.0/16"]})";
  const std::vector<Case> cases{
      {"declared by the policy",
       ranges,
       nullptr,
       {},
       {"10.1.0.5", "8.8.8.8", "10.1.255.255"},
       {"10.1.0.5", "10.1.255.255"}},
      {"declared for its pods", "", "10.1.0.0/16", {}, {"10.1.0.5", "10.4.0.5"}, {"10.1.0.5"}},
      {"the policy goes first", ranges, "10.4.0.0/16", {}, {"10.1.0.5", "10.4.0.5"}, {"10.1.0.5"}},
      {"nothing is declared", "", nullptr, {}, {"10.1.0.5"}, {}},
      {"a declaration of none",
       R"({"endpointCIDRs": []})",
       "10.1.0.0/16",
       {configuration()},
       {"10.1.0.5", "10.10.0.1"},
       {}},
      {"none for its pods", "", "none", {configuration()}, {"10.1.0.5", "10.10.0.1"}, {}},
      {"a declaration that is none", "", "all", {configuration()}, {"10.1.0.5", "10.10.0.1"}, {}},
      {"a policy that is none", R"({"endpointCIDRs": ["all"]})", "10.1.0.0/16", {}, {"10.1.0.5"}, {}},
      {"mapped",
       "",
       nullptr,
       {configuration()},
       {"10.10.0.1", "10.11.0.1", "10.70.0.5", "8.8.8.8"},
       {"10.30.0.1", "10.50.0.1", "10.71.0.5"}},
      {"mapped and declared", ranges, nullptr, {configuration()}, {"10.10.0.1", "10.1.0.5"}, {"10.30.0.1", "10.1.0.5"}},
      {"not mapped yet", ranges, nullptr, {configuration("rome", "False")}, {"10.10.0.1", "10.1.0.5"}, {"10.1.0.5"}},
      {"mapped by what is not wished any more", "", nullptr, {configuration("rome", "True", 3)}, {"10.10.0.1"}, {}},
      {"mapped by two", "", nullptr, {configuration(), configuration("other")}, {"10.10.0.1"}, {}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.title);
    Milan milan;
    milan.policy = each.policy;
    milan.foreign_cluster = peer("{}", each.annotation);
    milan.configurations = each.configurations;
    const auto plan = milan.plan(shadow(each.given));
    CHECK(addresses_of(plan) == each.kept);
    CHECK(plan.left_out_words.empty() == (each.given.size() == each.kept.size()));
    CHECK(wanted_by(plan)->annotation("offloading.liqo.io/left-out") == plan.left_out);
  }
}

TEST_CASE("what this cluster has itself, or no endpoint can have, is left out whatever is declared") {
  Milan milan;
  milan.policy = R"({"endpointCIDRs": ["0.0.0.0/0", "::/0"]})";
  const kube::Object pod = parse(
      R"({"metadata": {"name": "p"}, "status": {"podIP": "10.7.0.1", "podIPs": [{"ip": "10.7.0.1"}, {"ip": "fd00:7::1"}]}})");
  const kube::Object service = parse(
      R"({"metadata": {"name": "s"}, "spec": {"clusterIP": "10.96.0.10", "clusterIPs": ["10.96.0.10"], "externalIPs": ["10.8.0.1"]}, "status": {"loadBalancer": {"ingress": [{"ip": "10.8.0.2"}]}}})");
  const kube::Object node = parse(
      R"({"metadata": {"name": "n"}, "spec": {"podCIDRs": ["10.9.1.0/24"]}, "status": {"addresses": [{"type": "InternalIP", "address": "172.18.0.2"}, {"type": "Hostname", "address": "n"}]}})");
  const kube::Object services = parse(R"({"metadata": {"name": "kubernetes"}, "spec": {"cidrs": ["10.96.0.0/12"]}})");
  milan.own.set("pods", {"a", "p"}, HeldAddresses::of_pod(&pod));
  milan.own.set("services", {"a", "s"}, HeldAddresses::of_service(&service));
  milan.own.set("nodes", {"", "n"}, HeldAddresses::of_node(&node));
  milan.own.set("servicecidrs", {"", "kubernetes"}, HeldAddresses::of_service_cidr(&services));
  const Texts bad{"10.2.0.1",  "10.7.0.1",   "10.96.0.10", "10.97.0.1",       "10.8.0.1",    "10.8.0.2",
                  "10.9.1.77", "172.18.0.2", "127.0.0.1",  "169.254.169.254", "224.0.0.251", "0.0.0.0",
                  "not-an-ip", "",           "fd00:1::5",  "10.1.0.5/32"};
  for (const std::string& address : bad) {
    CAPTURE(address);
    const auto plan = milan.plan(shadow({"10.1.0.5", address}));
    CHECK(addresses_of(plan) == Texts{"10.1.0.5"});
    CHECK(plan.left_out_words.starts_with("1 of 2 addresses are left out here: "));
  }
  for (const char* address :
       {"fd00:7::1", "fd00:ec2::254", "fe80::1", "::1", "ff02::1", "::ffff:10.1.0.5", "10.1.0.5"}) {
    CAPTURE(address);
    CHECK(addresses_of(milan.plan(shadow({"fd00:1::5", address}, "{}", "IPv6"))) == Texts{"fd00:1::5"});
  }
  // Mapping does not lead there either.
  milan.policy = "";
  milan.configurations = {configuration()};
  milan.own.set("pods", {"a", "q"}, {.addresses = {*IpAddress::parse("10.30.0.1")}, .ranges = {}});
  const auto plan = milan.plan(shadow({"10.10.0.1", "10.10.0.2"}));
  CHECK(addresses_of(plan) == Texts{"10.30.0.2"});
  CHECK(plan.left_out == R"x(["10.10.0.1 (an address of this cluster itself)"])x");
  CHECK(plan.judged == std::vector{*IpAddress::parse("10.30.0.1"), *IpAddress::parse("10.30.0.2")});
}

TEST_CASE("direct connections lead where this cluster reaches the third one, if that is declared") {
  Milan milan;
  milan.policy = R"({"endpointCIDRs": ["192.168.100.0/24", "10.40.0.0/16", "10.30.0.0/16"]})";
  const Texts from{"10.10.0.0/16", "10.20.0.0/16"}, to{"10.40.0.0/16", "10.30.0.0/16"};
  REQUIRE(milan.turin.add(from, to));
  kube::Object given = shadow({"10.20.0.1", "10.10.0.7", "192.168.100.1", "10.60.0.1"});
  given.set_annotation("liqo.io/direct-connections-data",
                       R"({"clusterAddresses": {"turin": ["10.20.0.1", "10.10.0.7"], "nowhere": ["10.60.0.1"]}})");
  auto plan = milan.plan(given);
  CHECK(addresses_of(plan) == Texts{"10.30.0.1", "10.40.0.7", "192.168.100.1"});
  CHECK_FALSE(wanted_by(plan)->has_annotation("liqo.io/direct-connections-data"));
  CHECK(plan.direct == std::set<std::string>{"turin", "nowhere"});
  milan.denies_direct = true;
  plan = milan.plan(given);
  CHECK(addresses_of(plan) == Texts{"192.168.100.1"});
  CHECK(plan.left_out_words.contains("10.20.0.1 (of a third cluster, to which this one denies direct connections)"));
  milan.denies_direct = false;
  // Rome says which cluster they are in, so only what is declared for rome counts.
  milan.policy = R"({"endpointCIDRs": ["192.168.100.0/24"]})";
  CHECK(addresses_of(milan.plan(given)) == Texts{"192.168.100.1"});
  given.set_annotation("liqo.io/direct-connections-data", "[[[[[[[[");
  CHECK(addresses_of(milan.plan(given)) == Texts{"192.168.100.1"});
}

TEST_CASE("readiness needs a consumer that is reachable, and what is served is carried") {
  const char* healthy = R"({"conditions": [{"type": "APIServerStatus", "status": "Established"}],
    "modules": {"networking": {"enabled": true, "conditions": [{"type": "NetworkConnectionStatus", "status": "Established"}]}}})";
  const char* no_server = R"({"conditions": [{"type": "APIServerStatus", "status": "Error"}]})";
  const char* no_network = R"({"modules": {"networking": {"enabled": true, "conditions": [
    {"type": "NetworkConnectionStatus", "status": "Error"}]}}})";
  const char* network_off = R"({"modules": {"networking": {"enabled": false, "conditions": [
    {"type": "NetworkConnectionStatus", "status": "Error"}]}}})";
  struct Case {
    const char *title, *peer, *given, *made;
  };
  const std::vector<Case> cases{
      {"only the consumer offloads: nobody looks", "{}", R"({"ready": true})", R"({"ready": true})"},
      {"healthy", healthy, R"({"ready": true})", R"({"ready": true})"},
      {"healthy, nothing is said", healthy, "{}", R"({"ready": true})"},
      {"healthy, not ready", healthy, R"({"ready": false})", R"({"ready": false})"},
      {"no API server", no_server, R"({"ready": true})", R"({"ready": false})"},
      {"no network", no_network, R"({"ready": true})", R"({"ready": false})"},
      {"a network that is switched off", network_off, R"({"ready": true})", R"({"ready": true})"},
      {"no ForeignCluster", nullptr, R"({"ready": true})", R"({"ready": false})"},
      {"terminating", healthy, R"({"ready": false, "serving": true, "terminating": true})",
       R"({"ready": false, "serving": true, "terminating": true})"},
      {"terminating and not reachable", no_server, R"({"ready": false, "serving": true, "terminating": true})",
       R"({"ready": false, "serving": false, "terminating": true})"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.title);
    Milan milan;
    milan.foreign_cluster = each.peer ? std::optional(peer(each.peer)) : std::nullopt;
    const auto plan = milan.plan(shadow({"10.1.0.5"}, each.given));
    REQUIRE(wanted_by(plan));
    CHECK(kube::array_at(wanted_by(plan)->tree(), {"endpoints"}).at(0).at("conditions") == parse_value(each.made));
  }
}

TEST_CASE("a ShadowEndpointSlice that is not its consumer's, or of names, makes none") {
  Milan milan;
  const kube::Object live = applied(milan.plan(shadow({"10.1.0.5"})));
  const auto fqdn = milan.plan(shadow({"db.example.com"}, "{}", "FQDN"), &live);
  CHECK(fqdn.refusal ==
        "endpoints of the address type \"FQDN\" are not taken here, because only addresses can be "
        "judged (IPv4, IPv6)");
  CHECK(removed_by(fqdn) == "slice-uid");
  CHECK_FALSE(wanted_by(fqdn));
  CHECK(removed_by(milan.plan(shadow({}, "{}", "FQDN"))).empty());
  // The type of an EndpointSlice cannot be changed.
  CHECK(removed_by(milan.plan(shadow({"fd00:1::5"}, "{}", "IPv6"), &live)) == "slice-uid");
  milan.consumer = "turin";
  CHECK(milan.plan(shadow({"10.1.0.5"}), &live).refusal ==
        "the label offloading.liqo.io/origin is not turin, whose namespace this is");
  milan.consumer = "";
  CHECK(milan.plan(shadow({"10.1.0.5"})).refusal == "namespace shop-rome is no twin namespace of a consumer");
}

TEST_CASE("a hostile ShadowEndpointSlice gives no orders and stands for no pod of this cluster") {
  const Milan milan;
  kube::Object given = shadow({"10.1.0.5", "10.1.0.6"});
  given.set_label("endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io");
  given.set_label("liqo.io/managed-by", "mine");
  given.set_label("io.cilium/global", "true");
  given.set_annotation("endpoints.kubernetes.io/last-change-trigger-time", "2026-11-21T10:00:00Z");
  given.set_annotation("offloading.liqo.io/left-out", "[\"nothing\"]");
  given.set_annotation("note", "kept");
  json::array& endpoints = kube::ensure_object(given.mutable_spec(), "template").at("endpoints").as_array();
  endpoints[0].as_object()["targetRef"] =
      json::object{{"kind", "Pod"}, {"name", "admin"}, {"namespace", "kube-system"}, {"apiVersion", "v1"}};
  endpoints[0].as_object()["nodeName"] = "worker";
  endpoints[0].as_object()["hostname"] = "Not A Name";
  endpoints[1] = json::value("nonsense");
  const auto plan = milan.plan(given);
  REQUIRE(wanted_by(plan));
  CHECK(wanted_by(plan)->label("endpointslice.kubernetes.io/managed-by") == "endpointslice.reflection.liqo.io");
  CHECK(wanted_by(plan)->label("liqo.io/managed-by") == "shadowendpointslice");
  CHECK_FALSE(wanted_by(plan)->has_label("io.cilium/global"));
  CHECK(wanted_by(plan)->annotation("note") == "kept");
  CHECK_FALSE(wanted_by(plan)->has_annotation("endpoints.kubernetes.io/last-change-trigger-time"));
  CHECK_FALSE(wanted_by(plan)->has_annotation("offloading.liqo.io/left-out"));
  CHECK(wanted_by(plan)->tree().at("endpoints") ==
        parse_value(R"([{"addresses": ["10.1.0.5"], "conditions": {"ready": true}, "nodeName": "rome",
          "targetRef": {"kind": "RemotePod", "name": "admin", "namespace": "kube-system"}}])"));
}

TEST_CASE("what is left out is named within bounds") {
  const Milan milan;
  Texts many;
  for (int i = 0; i < 1'500; ++i) many.push_back("10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1));
  auto plan = milan.plan(shadow(many));
  CHECK(plan.left_out == R"x(["1400 endpoints (one slice has 100 at most)"])x");
  for (std::string& address : many) address = "8" + address.substr(2) + "\\u0007" + std::string(200, 'x');
  plan = milan.plan(shadow(many));
  CHECK(addresses_of(plan).empty());
  CHECK(plan.left_out.size() < 2'000);
  CHECK(plan.left_out_words.size() < 1'000);
  CHECK(plan.left_out_words.starts_with(
      "1500 of 1500 addresses are left out here: 500 endpoints (of one slice 1000 are looked "
      "at), 8.1.0.1?xxx"));
  CHECK(
      plan.left_out_words.contains("endpointCIDRs in the annotation liqo.io/pod-policy of namespace liqo-tenant-rome"));
}

TEST_CASE("what this cluster has is told when it changes, and is counted") {
  OwnAddresses own(*parse_ranges("10.2.0.0/16"));
  const auto address = [](const char* text) { return *IpAddress::parse(text); };
  const auto held = [&](const char* text) { return HeldAddresses{.addresses = {address(text)}, .ranges = {}}; };
  CHECK(own.set("pods", {"a", "p"}, held("10.7.0.1")).addresses == std::vector{address("10.7.0.1")});
  CHECK(own.set("pods", {"a", "p"}, held("10.7.0.1")).is_empty());
  CHECK(own.set("services", {"a", "p"}, held("10.7.0.1")).is_empty());
  CHECK(own.set("pods", {"a", "p"}, {}).is_empty());
  CHECK(own.contain(address("10.7.0.1")));
  CHECK(own.set("services", {"a", "p"}, {}).addresses == std::vector{address("10.7.0.1")});
  CHECK_FALSE(own.contain(address("10.7.0.1")));
  CHECK(own.contain(address("10.2.3.4")));
  const HeldAddresses ranges{.addresses = {}, .ranges = *parse_ranges("10.9.1.0/24,10.9.0.0/24,fd00:9::/64")};
  CHECK(own.set("nodes", {"", "n"}, ranges).any);
  for (const char* text : {"10.9.0.1", "10.9.1.255", "fd00:9::1"}) CHECK(own.contain(address(text)));
  for (const char* text : {"10.9.2.0", "10.8.255.255", "0.0.0.0", "255.255.255.255", "fd00:9:0:1::", "::"})
    CHECK_FALSE(own.contain(address(text)));
  CHECK(own.set("nodes", {"", "n"}, {}).any);
  CHECK_FALSE(own.contain(address("10.9.0.1")));
  // A pod that has ended has given its address back.
  const kube::Object ended =
      parse(R"({"metadata": {"name": "p"}, "status": {"phase": "Succeeded", "podIP": "10.7.0.1"}})");
  CHECK(HeldAddresses::of_pod(&ended) == HeldAddresses());
  CHECK(HeldAddresses::of_node(nullptr) == HeldAddresses());
}

TEST_CASE("an address belongs to a twin while its running pod alone has it") {
  OwnAddresses own(*parse_ranges("10.2.0.0/16"));
  const IpAddress address = *IpAddress::parse("10.2.0.21");
  const auto pod = [](std::string_view ns, std::string_view status, std::string_view manager = "shadowpod") {
    kube::Object made = parse(R"({"metadata": {"name": "pg-0"}, "status": )" + std::string(status) + "}");
    made.mutable_metadata()["namespace"] = ns;
    made.set_label("liqo.io/managed-by", manager);
    return HeldAddresses::of_pod(&made);
  };
  const char* running = R"({"phase": "Running", "podIP": "10.2.0.21", "podIPs": [{"ip": "10.2.0.21"}],
                            "hostIP": "172.18.0.3"})";
  struct Case {
    const char* title;
    HeldAddresses held;
    const char* twin;
  };
  const std::vector<Case> cases{
      {"it runs", pod("shop-rome", running), "shop-rome"},
      {"it has not begun", pod("shop-rome", R"({"phase": "Pending", "podIP": "10.2.0.21"})"), ""},
      {"it has ended", pod("shop-rome", R"({"phase": "Failed", "podIP": "10.2.0.21"})"), ""},
      {"its state is not known", pod("shop-rome", R"({"phase": "Unknown", "podIP": "10.2.0.21"})"), ""},
      {"it is in the network of its node",
       pod("shop-rome", R"({"phase": "Running", "podIP": "10.2.0.21", "hostIP": "10.2.0.21"})"), ""},
      {"it is the provider's", pod("shop-rome", running, "somebody"), ""},
      {"it is another consumer's", pod("shop-turin", running), "shop-turin"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.title);
    own.set("pods", {"x", "pg-0"}, each.held);
    CHECK(own.twin_of(address) == each.twin);
  }
  // A second object that has it takes it from the twin, and gives it back.
  own.set("pods", {"x", "pg-0"}, pod("shop-rome", running));
  for (const HeldAddresses& second : {pod("shop-turin", running), pod("default", running, "somebody"),
                                      HeldAddresses{.addresses = {address}, .ranges = {}}}) {
    auto change = own.set("nodes", {"", "second"}, second);
    CHECK(change.addresses == std::vector{address});
    CHECK(change.twins.contains("shop-rome"));
    CHECK(own.twin_of(address).empty());
    change = own.set("nodes", {"", "second"}, {});
    CHECK(change.twins.contains("shop-rome"));
    CHECK(own.twin_of(address) == "shop-rome");
  }
  const auto change = own.set("pods", {"x", "pg-0"}, {});
  CHECK(change.twins == std::set<std::string>{"shop-rome"});
  CHECK(own.twin_of(address).empty());
  CHECK(own.contain(address));
  CHECK(own.twin_of(*IpAddress::parse("10.9.0.1")).empty());
}

TEST_CASE("an endpoint may be a running pod of the consumer in this twin, whatever is declared") {
  const auto held = [](const char* text, const char* twin) {
    return HeldAddresses{.addresses = {*IpAddress::parse(text)}, .ranges = {}, .twin = twin};
  };
  for (const char* policy : {"", R"({"endpointCIDRs": ["10.0.0.0/8"]})", R"({"endpointCIDRs": []})"}) {
    CAPTURE(policy);
    Milan milan;
    milan.policy = policy;
    milan.foreign_cluster = peer(R"({"conditions": [{"type": "APIServerStatus", "status": "Error"}]})");
    milan.own.set("pods", {"shop-rome", "pg-0"}, held("10.2.0.21", "shop-rome"));
    milan.own.set("pods", {"other-rome", "pg-0"}, held("10.2.0.22", "other-rome"));
    milan.own.set("pods", {"shop-turin", "pg-0"}, held("10.2.0.23", "shop-turin"));
    milan.own.set("pods", {"default", "dns"}, held("10.2.0.24", ""));
    milan.own.set("nodes", {"", "worker"}, held("172.18.0.3", ""));
    const Texts given{"10.2.0.21", "10.2.0.22", "10.2.0.23", "10.2.0.24", "172.18.0.3", "10.2.0.25"};
    const auto plan = milan.plan(shadow(given));
    CHECK(addresses_of(plan) == Texts{"10.2.0.21"});
    CHECK(plan.left_out_words.starts_with("5 of 6 addresses are left out here: 10.2.0.22 ("));
    // The pod is here: it serves while the consumer cannot be reached, and it is on no node of the consumer's.
    const json::value& endpoint = wanted_by(plan)->tree().at("endpoints").as_array().front();
    CHECK(kube::bool_at(endpoint, {"conditions", "ready"}));
    CHECK(kube::string_at(endpoint, {"nodeName"}).empty());
    // All of them are judged again when pods of this cluster change.
    CHECK(plan.judged.size() == given.size());
    CHECK(addresses_of(milan.plan(shadow({"10.2.0.21"}, R"({"ready": false})"))) == Texts{"10.2.0.21"});
  }
}

TEST_CASE("an endpoint that the consumer says is its pod here is not mapped, and is nothing else") {
  Milan milan;
  milan.policy = R"({"endpointCIDRs": ["10.10.0.0/16", "10.1.0.0/16"]})";
  milan.configurations = {configuration()};
  milan.own.set("pods", {"shop-rome", "pg-0"},
                {.addresses = {*IpAddress::parse("10.10.0.1")}, .ranges = {}, .twin = "shop-rome"});
  kube::Object given = shadow({"10.10.0.1", "10.10.0.2", "10.1.0.5"});
  CHECK(addresses_of(milan.plan(given)) == Texts{"10.30.0.1", "10.30.0.2", "10.1.0.5"});
  for (json::value& endpoint : given.mutable_spec()["template"].at("endpoints").as_array())
    endpoint.as_object()["nodeName"] = "milan";
  const auto plan = milan.plan(given);
  CHECK(addresses_of(plan) == Texts{"10.10.0.1"});
  CHECK(
      plan.left_out ==
      R"x(["10.10.0.2 (no running pod of the consumer in this namespace has it)","10.1.0.5 (no running pod of the consumer in this namespace has it)"])x");
}

}  // namespace liqo::core::reflection
