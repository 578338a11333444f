// The particulars of EndpointSlices: which endpoints a provider gets, and by which addresses.
#include "objects.hpp"

namespace liqo::core::reflection {
namespace {

namespace json = kube::json;

kube::Object slice(std::string_view endpoints, std::string_view service = "web", std::string_view type = "IPv4") {
  kube::Object made = parse(R"({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": ")" +
                            std::string(type) + R"(", "metadata": {"name": "web-x7", "namespace": "shop", "uid": "l1",
    "labels": {"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"},
    "annotations": {"endpoints.kubernetes.io/last-change-trigger-time": "2026-11-22T10:00:00Z", "note": "x"}},
    "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}], "endpoints": )" +
                            std::string(endpoints) + "}");
  if (!service.empty()) made.set_label("kubernetes.io/service-name", service);
  return made;
}

std::string addresses_sent(const Reflection& reflection, const kube::Object& local) {
  std::string text;
  for (const json::value& endpoint : kube::array_at(reflection.applied(local).spec(), {"template", "endpoints"}))
    for (const json::value& address : kube::array_at(endpoint, {"addresses"}))
      text += (text.empty() ? "" : " ") + std::string(address.get_string());
  return text;
}

const Samples samples("EndpointSlice",
                      {R"({"addressType": "IPv4", "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
       "endpoints": [{"addresses": ["10.200.3.4"], "conditions": {"ready": true, "serving": true}, "zone": "z",
                      "targetRef": {"kind": "Pod", "name": "web-1", "namespace": "shop", "uid": "p1"}},
                     {"addresses": ["192.0.2.9"], "hostname": "db"}]})",
                       R"({"addressType": "IPv6", "endpoints": [{"addresses": ["fd00::1"]}]})"});

}  // namespace

TEST_CASE("an EndpointSlice is sent as a ShadowEndpointSlice, as Go Liqo sends it") {
  const Reflection reflection("EndpointSlice");
  const kube::Object sent =
      reflection.applied(slice(R"([{"addresses": ["10.200.3.4"], "nodeName": "worker", "zone": "z",
      "conditions": {"ready": true, "serving": true, "terminating": false}, "hostname": "web-1",
      "hints": {"forZones": [{"name": "z"}]}, "deprecatedTopology": {"a": "b"},
      "targetRef": {"kind": "Pod", "name": "web-1", "namespace": "shop", "uid": "p1", "resourceVersion": "7"}}])"));
  CHECK(sent.kind() == "ShadowEndpointSlice");
  CHECK(sent.api_version() == "offloading.liqo.io/v1beta1");
  CHECK(sent.key() == kube::ObjectKey{"shop-r", "web-x7"});
  CHECK(json::value(sent.labels()) ==
        parse_value(R"({"endpointslice.kubernetes.io/managed-by": "endpointslice.reflection.liqo.io",
      "kubernetes.io/service-name": "web", "offloading.liqo.io/origin": "local-cluster",
      "offloading.liqo.io/destination": "remote-cluster"})"));
  CHECK(sent.annotation("note") == "x");
  CHECK_FALSE(sent.has_annotation("endpoints.kubernetes.io/last-change-trigger-time"));
  CHECK(json::value(sent.spec()) == parse_value(R"({"template": {"addressType": "IPv4",
      "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}], "endpoints": [{"addresses": ["10.200.3.4"],
      "nodeName": "local-cluster", "zone": "z", "hostname": "web-1",
      "conditions": {"ready": true, "serving": true, "terminating": false},
      "targetRef": {"kind": "RemotePod", "name": "web-1", "namespace": "shop", "uid": "p1"}}]}})"));
}

TEST_CASE(
    "annotations are not sent with endpoints that are copied from an Endpoints, because leaders keep leases there") {
  const Reflection reflection("EndpointSlice");
  for (const auto& [manager, has_annotation] : {std::pair{"endpointslicemirroring-controller.k8s.io", false},
                                                std::pair{"patroni", true}, std::pair{"", true}}) {
    CAPTURE(manager);
    kube::Object local = slice(R"([{"addresses": ["10.200.3.4"]}])");
    local.set_label("endpointslice.kubernetes.io/managed-by", manager);
    local.set_annotation("renewTime", "2026-11-30T05:39:10+00:00");
    CHECK(reflection.applied(local).has_annotation("renewTime") == has_annotation);
    CHECK(addresses_sent(reflection, local) == "10.200.3.4");
  }
}

TEST_CASE("of the endpoints those are sent that the provider does not have itself, and can reach") {
  struct Case {
    const char *title, *endpoints, *sent, *told;
  };
  const Reflection reflection("EndpointSlice");
  for (const Case& c : {
           Case{"a pod here", R"([{"addresses": ["10.200.3.4"], "nodeName": "worker"}])", "10.200.3.4", ""},
           Case{"a pod on a node that nobody knows", R"([{"addresses": ["10.200.3.4"], "nodeName": "gone"}])",
                "10.200.3.4", ""},
           Case{"pods of the provider's own", R"([{"addresses": ["10.61.0.1"], "nodeName": "virtual-here"},
               {"addresses": ["10.61.0.2"], "nodeName": "virtual-here"}])",
                "", ""},
           Case{"a pod in a third cluster", R"([{"addresses": ["10.62.9.9"], "nodeName": "virtual-elsewhere"}])",
                "10.70.0.5", ""},
           Case{"a host outside", R"([{"addresses": ["192.0.2.9"]}])", "10.70.0.1", ""},
           Case{"one of two", R"([{"addresses": ["172.18.0.2"], "nodeName": "worker"}, {"addresses": ["10.200.3.4"]}])",
                "10.200.3.4",
                "1 of 2 addresses are left out for cluster remote-cluster, which cannot reach them: "
                "172.18.0.2. "},
           Case{"one of two of an endpoint", R"([{"addresses": ["172.18.0.2", "10.200.3.4"]}])", "10.200.3.4",
                "1 of 2 addresses"},
           Case{"no address", R"([{"addresses": ["db", "10.200.3.4"]}, 7, {"addresses": 7}])", "10.200.3.4",
                "1 of 2 addresses"},
           Case{"many", R"([{"addresses": ["8.0.0.1", "8.0.0.2", "8.0.0.3", "8.0.0.4", "8.0.0.5"]}])", "",
                "5 of 5 addresses are left out for cluster remote-cluster, which cannot reach them: 8.0.0.1, 8.0.0.2, "
                "8.0.0.3, 8.0.0.4 and 1 more. "},
           Case{"one address in two spellings", R"([{"addresses": ["fd00::1", "fd00:0::1"]}])", "fd00::1", ""},
           Case{"none", "[]", "", ""},
       }) {
    CAPTURE(c.title);
    const kube::Object local = slice(c.endpoints);
    CHECK(addresses_sent(reflection, local) == c.sent);
    const std::string told = reflection.kind.left_out(local, reflection.ctx);
    CHECK(told.starts_with(c.told));
    CHECK(told.empty() == (std::string_view(c.told).empty()));
  }
}

TEST_CASE("with direct connections pods of third clusters are sent as they are called here, and told of") {
  HomeOfTests home;
  home.services["direct"] = "liqo.io/use-direct-connections";
  Reflection reflection("EndpointSlice");
  reflection.ctx.endpoints = &home;
  const char* endpoints =
      R"([{"addresses": ["10.62.9.9"], "nodeName": "virtual-elsewhere", "targetRef": {"kind": "Pod"}},
      {"addresses": ["192.0.2.9"]}, {"addresses": ["10.62.9.9"], "nodeName": "virtual-elsewhere"}])";
  kube::Object sent = reflection.applied(slice(endpoints, "direct"));
  CHECK(addresses_sent(reflection, slice(endpoints, "direct")) == "10.62.9.9 10.70.0.1 10.70.0.5");
  CHECK(sent.annotation("liqo.io/direct-connections-data") ==
        R"({"clusterAddresses":{"third-cluster":["10.62.9.9"]}})");
  for (const char* service : {"web", ""}) {
    sent = reflection.applied(slice(endpoints, service));
    CHECK_FALSE(sent.has_annotation("liqo.io/direct-connections-data"));
  }
  CHECK_FALSE(reflection.applied(slice(R"([{"addresses": ["10.200.3.4"]}])", "direct"))
                  .has_annotation("liqo.io/direct-connections-data"));
  kube::Object large = slice(endpoints, "direct");
  large.set_annotation("note", std::string(262'000, 'x'));
  CHECK_FALSE(reflection.applied(large).has_annotation("liqo.io/direct-connections-data"));
  CHECK(addresses_sent(reflection, large) == "10.70.0.5 10.70.0.1 10.70.0.5");
  // Nor is it a user's to say.
  kube::Object claims = slice(R"([{"addresses": ["10.200.3.4"]}])");
  claims.set_annotation("liqo.io/direct-connections-data", R"({"clusterAddresses":{"third-cluster":["10.200.3.4"]}})");
  CHECK_FALSE(reflection.applied(claims).has_annotation("liqo.io/direct-connections-data"));
}

TEST_CASE("an EndpointSlice is selected by its own annotations, else by those of its Service") {
  struct Case {
    const char *title, *own, *service;
    SelectionPolicy policy;
    bool is_sent;
  };
  constexpr auto deny = SelectionPolicy::deny_list, allow = SelectionPolicy::allow_list;
  constexpr const char *skip_it = "liqo.io/skip-reflection", *allow_it = "liqo.io/allow-reflection";
  for (const Case& c : {
           Case{"nothing", "", "", deny, true},
           Case{"nothing, where nothing goes by itself", "", "", allow, false},
           Case{"its Service stays", "", skip_it, deny, false},
           Case{"its Service goes", "", allow_it, allow, true},
           Case{"it goes without its Service", allow_it, skip_it, deny, true},
           Case{"it stays without its Service", skip_it, allow_it, allow, false},
       }) {
    CAPTURE(c.title);
    HomeOfTests home;
    home.services["web"] = c.service;
    Reflection reflection("EndpointSlice");
    reflection.ctx.endpoints = &home;
    reflection.policy = c.policy;
    kube::Object local = slice("[]");
    if (*c.own) local.set_annotation(c.own, "true");
    CHECK((name_of(reflection.plan(&local, nullptr)) == "Apply") == c.is_sent);
  }
}

TEST_CASE("what no provider can use is not sent, and told where somebody may wait for it") {
  const Reflection reflection("EndpointSlice");
  const kube::Object names = slice(R"([{"addresses": ["db.example"]}])", "web", "FQDN");
  const auto plan = reflection.plan(&names, nullptr);
  REQUIRE(name_of(plan) == "Keep");
  CHECK(std::get<reflection_action::Keep>(plan).message ==
        "EndpointSlice web-x7 is not reflected to cluster remote-cluster: it has names in place of addresses");
  kube::Object anothers = slice("[]");
  anothers.set_label("endpointslice.kubernetes.io/managed-by", "endpointslice.reflection.liqo.io");
  CHECK(name_of(reflection.plan(&anothers, nullptr)) == "Keep");
}

TEST_CASE("a slice of another family of addresses is made anew, one whose Service is gone stays at home") {
  const Reflection reflection("EndpointSlice");
  CHECK(reflection.change(slice("[]"), slice("[]", "web", "IPv6")) == "Remove");
  const kube::Object orphan = slice("[]", "gone");
  CHECK(name_of(reflection.plan(&orphan, nullptr)) == "Keep");
}

TEST_CASE("a ShadowEndpointSlice without the label of reflection is somebody else's") {
  const Reflection reflection("EndpointSlice");
  const kube::Object local = slice("[]");
  kube::Object remote = reflection.copy(local);
  CHECK(name_of(reflection.plan(&local, &remote)) == "Keep");
  remote.set_label("endpointslice.kubernetes.io/managed-by", "me");
  CHECK(name_of(reflection.plan(&local, &remote)) == "Refuse");
  CHECK(name_of(reflection.plan(nullptr, &remote)) == "Keep");
}

TEST_CASE("endpoints that are written by hand may be pods of this cluster at the provider") {
  struct Case {
    const char *title, *endpoint, *sent, *node;
  };
  const Reflection reflection("EndpointSlice");
  for (const Case& c : {
           Case{"a pod there, as it is shown", R"({"addresses": ["10.107.0.21"]})", "10.7.0.21", "remote-cluster"},
           Case{"on the virtual node", R"({"addresses": ["10.107.0.21"], "nodeName": "virtual-here"})", "10.7.0.21",
                "remote-cluster"},
           Case{"whose address is not mapped", R"({"addresses": ["10.8.0.21"], "nodeName": "virtual-here"})",
                "10.8.0.21", "remote-cluster"},
           Case{"whose address is not declared", R"({"addresses": ["10.9.0.21"], "nodeName": "virtual-here"})",
                "10.9.0.21", "remote-cluster"},
           Case{"in a declared range, which may be wider than that of pods", R"({"addresses": ["10.8.0.21"]})",
                "10.8.0.21", "local-cluster"},
           Case{"a pod here", R"({"addresses": ["10.200.3.4"], "nodeName": "worker"})", "10.200.3.4", "local-cluster"},
           Case{"a pod in a third cluster", R"({"addresses": ["10.62.9.9"], "nodeName": "virtual-elsewhere"})",
                "10.70.0.5", "local-cluster"},
           Case{"a host outside", R"({"addresses": ["192.0.2.9"]})", "10.70.0.1", "local-cluster"},
           Case{"what nobody reaches", R"({"addresses": ["8.8.8.8"]})", "", ""},
       }) {
    CAPTURE(c.title);
    for (const char* manager : {"endpointslicemirroring-controller.k8s.io", "somebody"}) {
      kube::Object local = slice("[" + std::string(c.endpoint) + "]");
      local.set_label("endpointslice.kubernetes.io/managed-by", manager);
      CHECK(addresses_sent(reflection, local) == c.sent);
      const kube::Object sent = reflection.applied(local);
      const json::array& endpoints = kube::array_at(sent.spec(), {"template", "endpoints"});
      CHECK(endpoints.empty() == std::string_view(c.sent).empty());
      if (!endpoints.empty()) CHECK(kube::string_at(endpoints.front(), {"nodeName"}) == c.node);
    }
  }
  // Those of a Service with a selector are the provider's own.
  CHECK(addresses_sent(reflection, slice(R"([{"addresses": ["10.107.0.21"], "nodeName": "virtual-here"}])")).empty());
}

}  // namespace liqo::core::reflection
