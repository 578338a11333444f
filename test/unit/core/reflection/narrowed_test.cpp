// Services of which a provider refuses a part: what is refused, and the copy that nobody reaches from outside.
#include "core/reflection/narrowed.hpp"

#include "../objects.hpp"
#include "core/reflection/kind.hpp"

namespace liqo::core::reflection {
namespace {

using namespace core::testing;

kube::Object service(std::string_view annotations, std::string_view spec = R"({"type": "LoadBalancer"})",
                     std::string_view labels = "{}") {
  kube::Object made =
      parse(R"({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "door", "namespace": "shop"}})");
  made.mutable_metadata()["annotations"] = parse_value(annotations);
  made.mutable_metadata()["labels"] = parse_value(labels);
  made.mutable_spec() = parse_value(spec).as_object();
  return made;
}

std::string keys_of(const RefusedParts& parts) {
  std::string text;
  for (const std::string& key : parts.annotations) text += "a:" + key + " ";
  for (const std::string& key : parts.labels) text += "l:" + key + " ";
  return text + (parts.load_balancer_class ? "class" : "");
}

RefusedParts annotation(std::string_view key) { return {.labels = {}, .annotations = {std::string(key)}}; }

}  // namespace

TEST_CASE("the parts that a refusal names are those of the copy, each as a whole") {
  const kube::Object copy = service(
      R"({"a.example.com/x": "1", "a.example.com/x-y": "1", "sub.a.example.com/x": "1", "team": "1"})",
      R"({"type": "LoadBalancer", "loadBalancerClass": "cloud/x"})", R"({"a.example.com/mark": "1", "app": "web"})");
  const auto named = [&copy](std::string_view words) { return keys_of(refused_parts(copy, words)); };
  CHECK(named("annotation a.example.com/x is an order to X; the policy key serviceAnnotations would allow it") ==
        "a:a.example.com/x ");
  CHECK(named("a.example.com/x.") == "a:a.example.com/x ");
  CHECK(named("no \"a.example.com/x-y\", please") == "a:a.example.com/x-y ");
  CHECK(named("sub.a.example.com/x") == "a:sub.a.example.com/x ");
  CHECK(named("a.example.com/x.y") == "");
  CHECK(named("label a.example.com/mark is one") == "l:a.example.com/mark ");
  // Words of a sentence are no keys.
  CHECK(named("the team of this app cannot write services") == "");
  CHECK(named("annotation team is not known here") == "a:team ");
  CHECK(named("label app is not known here") == "l:app ");
  CHECK(named("spec.loadBalancerClass \"cloud/x\" is not among the classes") == "class");
  CHECK(keys_of(refused_parts(service("{}"), "spec.loadBalancerClass \"cloud/x\"")) == "");
  // A long text of a peer is not searched to its end.
  CHECK(named(std::string(100'000, ' ') + "annotation a.example.com/x") == "");
}

TEST_CASE("refused parts add up, within a bound") {
  RefusedParts parts;
  CHECK(add_refused(parts, annotation("a/x")));
  CHECK_FALSE(add_refused(parts, annotation("a/x")));
  CHECK(add_refused(parts, {.labels = {"a/x"}, .annotations = {}}));
  CHECK(add_refused(parts, {.labels = {}, .annotations = {}, .load_balancer_class = true}));
  CHECK_FALSE(add_refused(parts, {.labels = {}, .annotations = {}, .load_balancer_class = true}));
  for (int i = 0; i < 200; ++i) add_refused(parts, annotation("b/" + std::to_string(i)));
  CHECK(parts.labels.size() + parts.annotations.size() == max_refused_keys);
  CHECK_FALSE(add_refused(parts, annotation("c/x")));
}

TEST_CASE("only a Service that is reached from outside is narrowed, and for no key that may keep an Ingress shut") {
  const RefusedParts refused = annotation("service.beta.kubernetes.io/aws-load-balancer-type");
  CHECK(may_be_narrowed(service("{}"), refused));
  CHECK(may_be_narrowed(service("{}", R"({"type": "NodePort"})"), refused));
  CHECK_FALSE(may_be_narrowed(service("{}", R"({"type": "ClusterIP"})"), refused));
  CHECK_FALSE(may_be_narrowed(service("{}", "{}"), refused));
  CHECK_FALSE(may_be_narrowed(service("{}", R"({"type": "ExternalName"})"), refused));
  const auto with = [](std::string_view key) { return service(R"({")" + std::string(key) + R"(": "x"})"); };
  for (const char* key : {"metallb.io/allow-shared-ip", "cloud.google.com/load-balancer-type", "tailscale.com/expose",
                          "external-dns.alpha.kubernetes.io/hostname", "team.example.com/unknown"}) {
    CAPTURE(key);
    CHECK(may_be_narrowed(with(key), annotation(key)));
  }
  for (const char* key : {"konghq.com/plugins", "cloud.google.com/backend-config", "getambassador.io/config",
                          "example.com/auth-url", "nginx.ingress.kubernetes.io/whitelist-source-range"}) {
    CAPTURE(key);
    CHECK_FALSE(may_be_narrowed(with(key), annotation(key)));
    // Once it is gone at home, the copy lacks it no more.
    CHECK(may_be_narrowed(service("{}"), annotation(key)));
  }
  // These are not refused, and a narrowed copy would go without all the same.
  for (const char* key : {"konghq.com/plugins", "cloud.google.com/backend-config", "getambassador.io/config"}) {
    CAPTURE(key);
    CHECK_FALSE(may_be_narrowed(with(key), refused));
  }
  CHECK_FALSE(may_be_narrowed(with("a.example.com/auth-url"), annotation("a.example.com/door")));
  CHECK(may_be_narrowed(with("haproxy.org/allow-list"), refused));
  CHECK_FALSE(
      may_be_narrowed(service("{}", R"({"type": "LoadBalancer"})", R"({"istio.io/use-waypoint": "guard"})"), refused));
}

TEST_CASE("a narrowed copy has nothing by which something outside reaches it") {
  const kube::Object whole = service(
      R"({"service.beta.kubernetes.io/aws-load-balancer-type": "external", "io.cilium/global-service": "true",
          "team.example.com/lock": "1", "team.example.com/door": "1", "prometheus.io/scrape": "true", "note": "x",
          "liqo.io/force-remote-node-port": "true"})",
      R"({"type": "LoadBalancer", "selector": {"app": "web"}, "allocateLoadBalancerNodePorts": true,
          "externalIPs": ["192.0.2.1"], "externalTrafficPolicy": "Local", "healthCheckNodePort": 30123,
          "loadBalancerClass": "cloud/x", "loadBalancerIP": "192.0.2.2", "loadBalancerSourceRanges": ["192.0.2.0/24"],
          "sessionAffinity": "None", "ports": [{"name": "http", "port": 80, "nodePort": 30080}]})",
      R"({"app": "web", "app.kubernetes.io/name": "web", "istio.io/global": "true"})");
  const kube::Object shut = narrowed(whole, annotation("team.example.com/lock"));
  CHECK(shut.annotations() == parse_value(R"({"prometheus.io/scrape": "true", "note": "x"})").as_object());
  CHECK(shut.labels() == parse_value(R"({"app": "web", "app.kubernetes.io/name": "web"})").as_object());
  CHECK(shut.spec() == parse_value(R"({"type": "ClusterIP", "selector": {"app": "web"}, "sessionAffinity": "None",
                                      "ports": [{"name": "http", "port": 80}]})")
                           .as_object());
  CHECK_FALSE(is_exposed(shut));
  CHECK_FALSE(has_refused(shut, annotation("team.example.com/lock")));
}

TEST_CASE("the copy of a narrowed Service is a ClusterIP, and an API server stores nothing of the other types in it") {
  const kube::Object local = service(
      R"({"metallb.io/address-pool": "a"})",
      R"({"type": "LoadBalancer", "loadBalancerSourceRanges": ["192.0.2.0/24"], "externalTrafficPolicy": "Local",
          "allocateLoadBalancerNodePorts": false, "ports": [{"port": 80, "nodePort": 30080}]})");
  ForgingContext ctx = context();
  ctx.load_balancer_class = "cloud/x";
  const RefusedParts refused = annotation("metallb.io/address-pool");
  ReflectionRule rule{.kind = *find_reflected_kind("Service"), .policy = SelectionPolicy::deny_list, .ctx = ctx};
  const auto whole = wanted_copy(rule, local, "shop-r");
  rule.refused = &refused;
  const auto copy = wanted_copy(rule, local, "shop-r");
  REQUIRE(whole);
  REQUIRE(copy);
  CHECK(kube::string_at(whole->spec(), {"loadBalancerClass"}) == "cloud/x");
  CHECK(kube::string_at(copy->spec(), {"type"}) == "ClusterIP");
  for (const char* field : {"loadBalancerClass", "loadBalancerSourceRanges", "allocateLoadBalancerNodePorts"}) {
    CAPTURE(field);
    CHECK_FALSE(copy->spec().contains(field));
  }
  CHECK(kube::string_at(copy->spec(), {"externalTrafficPolicy"}) == "");
  CHECK(copy->annotation("metallb.io/address-pool") == "");
  // A copy that was a LoadBalancer is changed in place.
  const ReflectedKind& kind = *find_reflected_kind("Service");
  CHECK(kind.compare(*whole, *copy) == Comparison::differs);
}

TEST_CASE("a copy that lacks a refused part, or has another value of it, differs in it") {
  const RefusedParts parts = annotation("a/x");
  CHECK(differs_in(service("{}"), service(R"({"a/x": "1"})"), parts));
  CHECK(differs_in(service(R"({"a/x": "2"})"), service(R"({"a/x": "1"})"), parts));
  CHECK_FALSE(differs_in(service(R"({"a/x": "1", "b": "1"})"), service(R"({"a/x": "1", "b": "2"})"), parts));
}

TEST_CASE("what is told names what is refused, and what both sides can do") {
  const std::string words = describe_narrowed(annotation("a.example.com/x"), "milan");
  CHECK(words.contains("cluster milan refuses annotation a.example.com/x"));
  CHECK(words.contains("ClusterIP"));
  CHECK(words.contains("offloading.reflection.skip.annotations"));
  RefusedParts many;
  for (int i = 0; i < 60; ++i)
    add_refused(many, annotation("long.example.com/" + std::string(200, 'x') + std::to_string(i)));
  CHECK(describe_narrowed(many, "milan").size() < 3'000);
}

}  // namespace liqo::core::reflection
