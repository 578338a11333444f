// The particulars of Services: what is sent, what the provider chooses, and what cannot be changed in place.
#include "objects.hpp"

namespace liqo::core::reflection {
namespace {

namespace json = kube::json;

kube::Object service(std::string_view spec, std::string_view annotations = "{}") {
  return parse(R"({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop", "uid": "l1",
    "annotations": )" +
               std::string(annotations) + R"(}, "spec": )" + std::string(spec) + "}");
}

/// As the home cluster stores it.
kube::Object at_home(std::string_view spec) { return as_stored(service(spec)); }

json::value sent(const Reflection& reflection, const kube::Object& local) {
  return json::value(reflection.applied(local).spec());
}

void store(const kube::Object& applied, kube::Object& stored) {
  const bool has_load_balancer_node_ports =
      kube::bool_at(applied.tree(), {"spec", "allocateLoadBalancerNodePorts"}, true);
  stored.tree()["status"] = {{"loadBalancer", json::object()}};
  json::object& spec = stored.mutable_spec();
  set_default(spec, "type", "ClusterIP");
  set_default(spec, "sessionAffinity", "None");
  if (spec["sessionAffinity"] == "ClientIP")
    set_default(spec, "sessionAffinityConfig", {{"clientIP", {{"timeoutSeconds", 10800}}}});
  const std::string type(kube::string_at(spec, {"type"}));
  const bool is_outside = type == "NodePort" || type == "LoadBalancer";
  if (type == "LoadBalancer") set_default(spec, "allocateLoadBalancerNodePorts", has_load_balancer_node_ports);
  if (is_outside) set_default(spec, "externalTrafficPolicy", "Cluster");
  if (spec.contains("ports")) {
    int allocated = 30100;
    for (json::value& each : spec["ports"].as_array()) {
      json::object& port = each.as_object();
      set_default(port, "protocol", "TCP");
      set_default(port, "targetPort", port["port"]);
      if (is_outside && has_load_balancer_node_ports) set_default(port, "nodePort", ++allocated);
    }
  }
  if (type == "ExternalName") return;
  set_default(spec, "internalTrafficPolicy", "Cluster");
  set_default(spec, "clusterIP", "10.96.7.7");
  set_default(spec, "clusterIPs", json::array{spec["clusterIP"]});
  set_default(spec, "ipFamilies", {"IPv4"});
  set_default(spec, "ipFamilyPolicy", "SingleStack");
  if (type == "LoadBalancer" && spec["externalTrafficPolicy"] == "Local") spec["healthCheckNodePort"] = 30999;
}

const Samples samples(
    "Service",
    {R"({"spec": {"selector": {"app": "web", "empty": ""}, "ports": [{"port": 80}]}})",
     R"({"spec": {"type": "NodePort", "externalTrafficPolicy": "Local", "publishNotReadyAddresses": true,
       "ports": [{"name": "a", "port": 53, "targetPort": "dns"}, {"name": "b", "port": 53, "protocol": "UDP"}]}})",
     R"({"spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "sessionAffinity": "ClientIP",
       "loadBalancerSourceRanges": ["192.0.2.0/24"], "ports": [{"port": 80, "appProtocol": "http"}]}})",
     R"({"spec": {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": false, "ports": [{"port": 80}]}})",
     R"({"spec": {"clusterIP": "None", "trafficDistribution": "PreferClose", "ipFamilyPolicy": "PreferDualStack",
       "selector": {"app": "web"}}})",
     R"({"spec": {"type": "ExternalName", "externalName": "db.example", "ports": [{"port": 80}]}})",
     R"({"spec": {"externalIPs": ["192.0.2.1"], "externalTrafficPolicy": "Cluster", "ports": [{"port": 81}]}})"},
    store);

}  // namespace

TEST_CASE("a Service is sent as Go Liqo sends it") {
  const Reflection reflection("Service");
  CHECK(sent(reflection, service(R"({"type": "ClusterIP", "clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"],
      "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
      "sessionAffinity": "ClientIP", "selector": {"app": "web"}, "externalIPs": ["192.0.2.1"],
      "ports": [{"name": "http", "protocol": "TCP", "port": 80, "targetPort": 8080}]})")) ==
        parse_value(R"({"type": "ClusterIP", "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
      "sessionAffinity": "ClientIP", "selector": {"app": "web"}, "externalName": "", "externalTrafficPolicy": "",
      "publishNotReadyAddresses": false,
      "ports": [{"name": "http", "protocol": "TCP", "port": 80, "targetPort": 8080, "nodePort": 0}]})"));
}

TEST_CASE("each type of Service is sent with what it needs") {
  struct Case {
    const char *title, *local, *field, *sent;  ///< nullptr = the field is not sent
  };
  for (const Case& c : {
           Case{"headless", R"({"clusterIP": "None"})", "clusterIP", R"("None")"},
           Case{"a cluster IP", R"({"clusterIP": "10.96.0.9"})", "clusterIP", nullptr},
           Case{"a name", R"({"type": "ExternalName", "externalName": "db.example"})", "externalName",
                R"("db.example")"},
           Case{"pods that are not ready", R"({"publishNotReadyAddresses": true})", "publishNotReadyAddresses", "true"},
           Case{"traffic of its node", R"({"type": "NodePort", "externalTrafficPolicy": "Local"})",
                "externalTrafficPolicy", R"("Local")"},
           Case{"traffic to addresses of the home cluster",
                R"({"type": "ClusterIP", "externalIPs": ["192.0.2.1"], "externalTrafficPolicy": "Cluster"})",
                "externalTrafficPolicy", R"("")"},
           Case{"two IP families", R"({"ipFamilyPolicy": "RequireDualStack"})", "ipFamilyPolicy",
                R"("PreferDualStack")"},
           Case{"two IP families by default", R"({"clusterIP": "None", "ipFamilyPolicy": "RequireDualStack"})",
                "ipFamilyPolicy", R"("RequireDualStack")"},
           Case{"one IP family", R"({"ipFamilyPolicy": "SingleStack"})", "ipFamilyPolicy", R"("SingleStack")"},
           Case{"families of home", R"({"ipFamilies": ["IPv6"]})", "ipFamilies", nullptr},
           Case{"a name of the namespace", R"({"type": "ExternalName", "externalName": "db.shop.svc.cluster.local"})",
                "externalName", R"("db.shop-r.svc.cluster.local")"},
           Case{"traffic inside", R"({"internalTrafficPolicy": "Local"})", "internalTrafficPolicy", R"("Local")"},
           Case{"who may come", R"({"loadBalancerSourceRanges": ["192.0.2.0/24"]})", "loadBalancerSourceRanges",
                R"(["192.0.2.0/24"])"},
           Case{"no node ports", R"({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": false})",
                "allocateLoadBalancerNodePorts", "false"},
           Case{"how long a client stays",
                R"({"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 30}}})",
                "sessionAffinityConfig", R"({"clientIP": {"timeoutSeconds": 30}})"},
           Case{"near", R"({"trafficDistribution": "PreferClose"})", "trafficDistribution", R"("PreferClose")"},
           Case{"near, by another word", R"({"trafficDistribution": "PreferSameZone"})", "trafficDistribution",
                R"("PreferClose")"},
           Case{"nearer", R"({"trafficDistribution": "PreferSameNode"})", "trafficDistribution", R"("PreferClose")"},
           Case{"addresses of the home cluster", R"({"externalIPs": ["192.0.2.1"]})", "externalIPs", nullptr},
           Case{"an address of the home cluster", R"({"loadBalancerIP": "192.0.2.1"})", "loadBalancerIP", nullptr},
           Case{"a port of the home cluster", R"({"healthCheckNodePort": 30001})", "healthCheckNodePort", nullptr},
           Case{"a class of the home cluster", R"({"type": "LoadBalancer", "loadBalancerClass": "ours"})",
                "loadBalancerClass", nullptr},
       }) {
    CAPTURE(c.title);
    const kube::Object copy = Reflection("Service").applied(service(c.local));
    const json::value* field = copy.spec().if_contains(c.field);
    REQUIRE((field != nullptr) == (c.sent != nullptr));
    if (field) CHECK(json::serialize(*field) == json::serialize(parse_value(c.sent)));
  }
}

TEST_CASE("defaults that nobody wrote at home are no difference") {
  const Reflection reflection("Service");
  for (const char* spec :
       {R"({"ports": [{"port": 80}]})",
        R"({"sessionAffinity": "ClientIP", "ports": [{"port": 53}, {"port": 53, "protocol": "UDP"}]})"}) {
    CAPTURE(spec);
    const kube::Object local = service(spec), copy = reflection.copy(local);
    CHECK(name_of(reflection.plan(&local, &copy)) == "Keep");
  }
}

TEST_CASE("node ports are the provider's to choose, unless they are asked for") {
  const Reflection reflection("Service");
  const auto ports = [&](std::string_view local, std::string_view annotations) {
    return json::serialize(
        reflection.applied(service(R"({"type": "NodePort", "ports": [)" + std::string(local) + "]}", annotations))
            .spec()
            .at("ports"));
  };
  constexpr const char *chosen = R"({"port":80,"nodePort":33333})", *none = R"({"port":80})";
  CHECK(ports(chosen, "{}") == R"([{"port":80}])");
  CHECK(ports(chosen, R"({"liqo.io/force-remote-node-port": "true"})") == R"([{"port":80,"nodePort":33333}])");
  CHECK(ports(chosen, R"({"liqo.io/force-remote-node-port": "yes"})") == R"([{"port":80}])");
  CHECK(ports(none, "{}") == R"([{"port":80,"nodePort":0}])");
  CHECK(ports(none, R"({"liqo.io/force-remote-node-port": "true"})") == R"([{"port":80,"nodePort":0}])");
}

TEST_CASE("a load balancer has the class that was agreed on") {
  Reflection reflection("Service");
  reflection.ctx.load_balancer_class = "theirs";
  const auto class_of = [&](const char* spec) {
    return std::string(kube::string_at(reflection.applied(service(spec)).spec(), {"loadBalancerClass"}));
  };
  CHECK(class_of(R"({"type": "LoadBalancer", "loadBalancerClass": "ours"})") == "theirs");
  CHECK(class_of(R"({"type": "ClusterIP"})").empty());
}

TEST_CASE("the Service of the API server is never reflected, and its name is free elsewhere") {
  const Reflection reflection("Service");
  kube::Object local = at_home(R"({"ports": [{"port": 443}]})");
  local.mutable_metadata()["name"] = "kubernetes";
  CHECK(name_of(reflection.plan(&local, nullptr)) == "Apply");
  local.mutable_metadata()["namespace"] = "default";
  CHECK(name_of(reflection.plan(&local, nullptr)) == "Keep");
  const kube::Object theirs = parse(R"({"metadata": {"name": "kubernetes"}})");
  CHECK(name_of(reflection.plan(&local, &theirs)) == "Keep");
}

TEST_CASE("a Service changes in place, but for its cluster IP and the class of its load balancer") {
  struct Case {
    const char *title, *before, *after, *class_before, *class_after, *plan;
  };
  constexpr const char *plain = R"({"ports": [{"port": 80}]})", *headless = R"({"clusterIP": "None"})",
                       *named = R"({"type": "ExternalName", "externalName": "db.example"})",
                       *balanced = R"({"type": "LoadBalancer", "ports": [{"port": 80}]})",
                       *node_port = R"({"type": "NodePort", "ports": [{"port": 80}]})";
  for (const Case& c : {
           Case{"cluster IP to none", plain, headless, "", "", "Remove"},
           Case{"none to cluster IP", headless, plain, "", "", "Remove"},
           Case{"node ports to none", node_port, headless, "", "", "Remove"},
           Case{"headless, from now on with pods", headless, R"({"clusterIP": "None", "selector": {"app": "web"}})", "",
                "", "Remove"},
           Case{"headless, from now on without pods", R"({"clusterIP": "None", "selector": {"app": "web"}})", headless,
                "", "", "Apply"},
           Case{"cluster IP to name", plain, named, "", "", "Apply"},
           Case{"headless to name", headless, named, "", "", "Apply"},
           Case{"name to cluster IP", named, plain, "", "", "Apply"},
           Case{"name to headless", named, headless, "", "", "Apply"},
           Case{"node ports", plain, node_port, "", "", "Apply"},
           Case{"no more node ports", node_port, plain, "", "", "Apply"},
           Case{"load balancer", plain, balanced, "", "theirs", "Apply"},
           Case{"load balancer no more", balanced, plain, "theirs", "theirs", "Apply"},
           Case{"another class", balanced, balanced, "theirs", "new", "Remove"},
           Case{"a class from now on", balanced, balanced, "", "theirs", "Remove"},
           Case{"another port", plain, R"({"ports": [{"port": 81}]})", "", "", "Apply"},
       }) {
    CAPTURE(c.title);
    Reflection reflection("Service");
    reflection.ctx.load_balancer_class = c.class_before;
    const kube::Object copy = reflection.copy(at_home(c.before));
    reflection.ctx.load_balancer_class = c.class_after;
    const kube::Object local = at_home(c.after);
    CHECK(name_of(reflection.plan(&local, &copy)) == c.plan);
  }
}

TEST_CASE("a class that nobody asks for is taken away only where reflection has set it") {
  Reflection reflection("Service");
  const kube::Object local = at_home(R"({"type": "LoadBalancer", "ports": [{"port": 80}]})");
  kube::Object copy = reflection.copy(local);
  copy.mutable_spec()["loadBalancerClass"] = "theirs";
  CHECK(name_of(reflection.plan(&local, &copy)) == "Keep");
  copy.mutable_metadata()["managedFields"] = parse_value(R"([{"manager": "webhook", "operation": "Update",
    "fieldsV1": {"f:spec": {"f:loadBalancerClass": {}}}}])");
  CHECK(name_of(reflection.plan(&local, &copy)) == "Keep");
  copy.mutable_metadata()["managedFields"] = parse_value(R"([{"manager": "reflection.liqo.io", "operation": "Apply",
    "fieldsV1": {"f:spec": {"f:loadBalancerClass": {}}}}])");
  CHECK(name_of(reflection.plan(&local, &copy)) == "Remove");
}

TEST_CASE("what somebody changes of the copy of a Service is put right, and what they add is theirs") {
  const Reflection reflection("Service");
  const kube::Object local =
      at_home(R"({"selector": {"app": "web"}, "trafficDistribution": "PreferClose", "ports": [{"port": 80}]})");
  struct Case {
    const char *title, *changed, *plan;
  };
  for (const Case& c : {
           Case{"a label that nothing has", R"({"selector": {"app": "web", "empty": ""}})", "Apply"},
           Case{"no selector", R"({"selector": null})", "Apply"},
           Case{"another target", R"({"ports": [{"port": 80, "targetPort": 81, "protocol": "TCP"}]})", "Apply"},
           Case{"a node port", R"({"ports": [{"port": 80, "targetPort": 80, "nodePort": 30001}]})", "Apply"},
           Case{"another type", R"({"type": "NodePort"})", "Apply"},
           Case{"a port beside", R"({"ports": [{"port": 9}, {"port": 80, "targetPort": 80, "protocol": "TCP"}]})",
                "Keep"},
           Case{"an address", R"({"externalIPs": ["192.0.2.1"], "externalTrafficPolicy": "Cluster"})", "Keep"},
           Case{"a server that does not know the hint", R"({"trafficDistribution": null})", "Keep"},
           Case{"another hint", R"({"trafficDistribution": "PreferSameNode"})", "Apply"},
       }) {
    CAPTURE(c.title);
    kube::Object copy = reflection.copy(local);
    for (const auto& [key, value] : parse_value(c.changed).get_object()) {
      if (value.is_null())
        copy.mutable_spec().erase(key);
      else
        copy.mutable_spec()[key] = value;
    }
    CHECK(name_of(reflection.plan(&local, &copy)) == c.plan);
  }
}

TEST_CASE("of externalIPs it is reported that they stay at home") {
  const Reflection reflection("Service");
  kube::Object door =
      parse(R"({"metadata": {"name": "door", "namespace": "shop"}, "spec": {"ports": [{"port": 80}]}})");
  CHECK(reflection.kind.left_out(door, reflection.ctx).empty());
  door.mutable_spec()["externalIPs"] = parse_value(R"(["192.0.2.1", "192.0.2.2"])");
  CHECK(reflection.kind.left_out(door, reflection.ctx) ==
        "the copy in cluster remote-cluster has no externalIPs (192.0.2.1, 192.0.2.2): these are addresses of this "
        "cluster, and lead to the Service here alone");
  CHECK_FALSE(reflection.applied(door).spec().contains("externalIPs"));
}

TEST_CASE(
    "of an address that a load balancer was to have, and of a name of home, it is reported that they stay there") {
  const Reflection reflection("Service");
  kube::Object door = parse(R"({"metadata": {"name": "door", "namespace": "shop"},
    "spec": {"type": "LoadBalancer", "loadBalancerIP": "192.0.2.1", "ports": [{"port": 80}]}})");
  constexpr std::string_view about_address =
      "the copy in cluster remote-cluster has no loadBalancerIP \"192.0.2.1\": this is an address of this cluster, and "
      "a load balancer there chooses its own";
  CHECK(reflection.kind.left_out(door, reflection.ctx) == about_address);
  door.mutable_spec()["externalIPs"] = parse_value(R"(["192.0.2.2"])");
  CHECK(reflection.kind.left_out(door, reflection.ctx) ==
        "the copy in cluster remote-cluster has no externalIPs (192.0.2.2): these are addresses of this cluster, and "
        "lead to the Service here alone; " +
            std::string(about_address));
  door.mutable_spec()["type"] = "ClusterIP";
  door.mutable_spec().erase("externalIPs");
  CHECK(reflection.kind.left_out(door, reflection.ctx).empty());
  door.mutable_spec() = {{"type", "ExternalName"}, {"externalName", "db.bank.svc"}};
  CHECK(reflection.kind.left_out(door, reflection.ctx).contains("namespace bank is not offloaded"));
}

}  // namespace liqo::core::reflection
