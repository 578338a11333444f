#include "core/admission/exposure.hpp"

#include <doctest/doctest.h>

#include "reviews.hpp"

using namespace liqo::core::admission;
using liqo::core::PodPolicy;
using liqo::core::read_pod_policy;
using liqo::test::creating;
using liqo::test::updating;
namespace json = kube::json;

namespace {

NamespaceOwner owner_of(std::string_view ns) {
  if (ns == "shop-rome" || ns == "lab-rome") return NamespaceOwner::consumer;
  return ns == "shop-paris" || ns == "default" || ns == "dev" ? NamespaceOwner::others : NamespaceOwner::none;
}

std::string service(std::string_view spec) {
  return R"({"metadata":{"name":"s","namespace":"shop-rome"},"spec":)" + std::string(spec) + "}";
}

std::string refusal(std::string_view spec, std::string_view policy = "") {
  const auto answer = check_service(creating(service(spec), "pool-1f", {"rome"}), "rome",
                                    read_pod_policy(policy).value(), {.owner_of = owner_of});
  return answer.allowed ? "" : answer.message;
}

std::string ingress_refusal(std::string_view spec, std::string_view policy) {
  const auto answer =
      check_ingress(creating(service(spec), "pool-1f", {"rome"}), "rome", read_pod_policy(policy).value(), {});
  return answer.allowed ? "" : answer.message;
}

}  // namespace

TEST_CASE("what Go Liqo reflects of a Service passes, whatever its type") {
  for (std::string_view spec :
       {R"({"ports":[{"name":"http","protocol":"TCP","port":80,"targetPort":8080,"nodePort":0}],"selector":{"a":"b"},
           "type":"ClusterIP","sessionAffinity":"ClientIP","externalName":"","externalTrafficPolicy":"",
           "publishNotReadyAddresses":false,"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster"})",
        R"({"clusterIP":"None","selector":{"a":"b"}})", R"({"type":"NodePort","ports":[{"port":80,"nodePort":30080}]})",
        R"({"type":"LoadBalancer","loadBalancerSourceRanges":["10.0.0.0/8"]})",
        R"({"type":"ExternalName","externalName":"db.example.com"})", R"({"externalIPs":[],"loadBalancerIP":""})",
        "{}"})
    CHECK(refusal(spec) == "");
}

TEST_CASE("a Service takes no addresses that are not the consumer's, and leads to nobody else") {
  struct Row {
    std::string_view spec;
    std::string_view says;
    std::string_view policy;  // what lets it pass; "" = nothing does
  };
  constexpr Row rows[] = {
      {R"({"externalIPs":["10.96.0.1"]})", R"(spec.externalIPs "10.96.0.1")", R"({"externalIPs":true})"},
      {R"({"type":"LoadBalancer","loadBalancerIP":"192.0.2.1"})", "spec.loadBalancerIP", R"({"externalIPs":true})"},
      {R"({"type":"ExternalName","externalName":"web.shop-paris.svc.cluster.local"})", "what others have",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"Web.Shop-Paris.SVC."})", "what others have",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"0.web.shop-paris.svc.cluster.local"})", "what others have",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"cluster.local.cluster.local"})", "the network of this cluster",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"web.shop-later.svc.corp.example"})", "what others have",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"10-0-0-1.shop-paris.pod.corp.example"})", "what others have",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"theirs.shop-paris"})", "what others have",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"theirs.shop-later"})", "what others have",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"kubernetes.default"})", "what others have",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"kubernetes.default.svc"})", "what others have",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"theirs.dev"})", "what others have", R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"web"})", "is no full name", R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"metadata.google.internal"})", "the network of this cluster",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"127.1"})", "is an address", R"({"externalIPs":true})"},
      {R"({"type":"ExternalName","externalName":"0x7f000001"})", "is an address", R"({"externalIPs":true})"},
      {R"({"type":"ExternalName","externalName":"x.localhost"})", "is an address", R"({"externalIPs":true})"},
      {R"({"type":"ExternalName","externalName":"10.0.0.1"})", "is an address", R"({"externalIPs":true})"},
      {R"({"type":"ExternalName","externalName":"localhost"})", "is an address", R"({"externalIPs":true})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.spec);
    CHECK(refusal(row.spec).find(row.says) != std::string::npos);
    CHECK(refusal(row.spec).find("would allow it") != std::string::npos);
    CHECK(refusal(row.spec, row.policy) == "");
  }
  CHECK(refusal(R"({"type":"ExternalName","externalName":"web.lab-rome.svc.cluster.local"})") == "");
  CHECK(refusal(R"({"type":"ExternalName","externalName":"web.lab-rome.svc"})") == "");
  for (std::string_view name :
       {"web.lab-rome", "db.example.com", "xn--bcher-kva.example", "a.podcast.example.org", "services.example.com"})
    CHECK(refusal(R"({"type":"ExternalName","externalName":")" + std::string(name) + R"("})") == "");
  // In the middle of a name it means nothing.
  CHECK(refusal(R"({"type":"ExternalName","externalName":"api.svc.example.com"})") == "");
}

TEST_CASE("types of Services pass that the policy does not refuse") {
  constexpr std::string_view policy = R"({"refusedServiceTypes":["LoadBalancer","ExternalName"]})";
  CHECK(
      refusal(R"({"type":"LoadBalancer"})", policy) ==
      R"(Service "s" may not be in this cluster: spec.type "LoadBalancer" is among refusedServiceTypes of the policy)");
  CHECK(refusal(R"({"type":"ExternalName","externalName":"a.example.com"})", policy) != "");
  CHECK(refusal(R"({"type":"NodePort"})", policy) == "");
  CHECK(refusal(R"({"type":"NodePort"})", R"({"refusedServiceTypes":["*"]})") != "");
  CHECK(refusal(R"({"type":"ClusterIP"})", R"({"refusedServiceTypes":["*"]})") == "");
}

TEST_CASE("others than the consumer write what they like, and so does everybody where it is deleted") {
  const std::string bad = service(R"({"externalIPs":["10.96.0.1"]})");
  CHECK(check_service(creating(bad, "admin", {"system:masters"}), "rome", {}, {.owner_of = owner_of}).allowed);
  CHECK(check_service(creating(bad, "pool-2a", {"paris"}), "rome", {}, {.owner_of = owner_of}).allowed);
  CHECK(check_service(creating(bad, "pool-1f", {"rome"}), "", {}, {.owner_of = owner_of}).allowed);
  CHECK_FALSE(check_service(creating(bad, "rome", {"liqo.io"}), "rome", {}, {.owner_of = owner_of}).allowed);
  Request removal = creating(bad, "pool-1f", {"rome"});
  removal.operation = Operation::remove;
  CHECK(check_service(removal, "rome", {}, {.owner_of = owner_of}).allowed);
}

TEST_CASE("a Service that has no name yet is told by the beginning of it") {
  Request nameless =
      creating(R"({"metadata":{"generateName":"web-"},"spec":{"externalIPs":["10.96.0.1"]}})", "pool-1f", {"rome"});
  nameless.name.clear();
  CHECK(check_service(nameless, "rome", {}, {.owner_of = owner_of})
            .message.starts_with("Service \"web-\" may not be in this cluster: "));
}

TEST_CASE("what is stored can stay, and nothing is added to it") {
  const std::string plain = service(R"({"ports":[]})");
  const std::string one = service(R"({"externalIPs":["192.0.2.1"]})");
  const std::string other = service(R"({"externalIPs":["192.0.2.2"]})");
  const auto allowed = [](const std::string& before, const std::string& after) {
    return check_service(updating(before, after, "pool-1f", {"rome"}), "rome", {}, {.owner_of = owner_of}).allowed;
  };
  CHECK(allowed(one, one));
  CHECK(allowed(one, plain));
  CHECK_FALSE(allowed(plain, one));
  CHECK_FALSE(allowed(one, other));
}

TEST_CASE("a Service that is no Service is refused or let pass, and never breaks anything") {
  for (std::string_view spec : {R"({"externalIPs":[1,null,{}]})", R"({"externalIPs":"x"})", R"({"type":7})",
                                R"({"type":"ExternalName","externalName":{}})", R"([])"})
    static_cast<void>(refusal(spec));
  CHECK(refusal(R"({"externalIPs":[1]})") != "");
}

TEST_CASE("hosts of Ingresses are free, or those that the policy lists") {
  constexpr std::string_view hosts = R"({"ingressHosts":["shop.example.com","*.rome.example.com"]})";
  struct Row {
    std::string_view spec;
    bool passes;
  };
  constexpr Row rows[] = {
      {R"({"rules":[{"host":"shop.example.com"}],"tls":[{"hosts":["shop.example.com"],"secretName":""}]})", true},
      {R"({"rules":[{"host":"a.rome.example.com"}]})", true},
      {R"({"rules":[{"host":"*.rome.example.com"}]})", true},
      {R"({"rules":[{"host":"a.b.rome.example.com"}]})", true},
      {R"({"rules":[{"host":"rome.example.com"}]})", false},
      {R"({"rules":[{"host":"evilrome.example.com"}]})", false},
      {R"({"rules":[{"host":"bank.example.com"}]})", false},
      {R"({"rules":[{"http":{"paths":[]}}]})", false},
      {R"({"defaultBackend":{"service":{"name":"s","port":{"number":80}}}})", false},
      {R"({"rules":[{"host":"shop.example.com"}],"tls":[{"hosts":["bank.example.com"]}]})", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.spec);
    CHECK(ingress_refusal(row.spec, "") == "");
    CHECK((ingress_refusal(row.spec, hosts) == "") == row.passes);
    CHECK(ingress_refusal(row.spec, R"({"ingressHosts":["*"]})") == "");
    CHECK((ingress_refusal(row.spec, R"({"ingressHosts":[]})") != ""));
  }
}

TEST_CASE("annotations that change how a Service or an Ingress is exposed are refused, plain ones pass") {
  const auto says = [](auto check, std::string_view annotations, std::string_view policy) {
    const std::string object =
        R"({"metadata":{"name":"s","namespace":"shop-rome","annotations":)" + std::string(annotations) + "}}";
    const Answer answer = check(creating(object, "pool-1f", {"rome"}), read_pod_policy(policy).value());
    return answer.allowed ? "" : answer.message;
  };
  const auto of_service = [](const Request& request, const PodPolicy& policy) {
    return check_service(request, "rome", policy, {.owner_of = owner_of});
  };
  const auto of_ingress = [](const Request& request, const PodPolicy& policy) {
    return check_ingress(request, "rome", policy, {});
  };
  for (std::string_view key :
       {"service.beta.kubernetes.io/aws-load-balancer-scheme", "external-dns.alpha.kubernetes.io/hostname",
        "metallb.universe.tf/address-pool", "metallb.io/loadBalancerIPs", "projectcalico.org/ipv4pools",
        "load-balancer.hetzner.cloud/location", "networking.gke.io/load-balancer-type", "cert-manager.io/issuer",
        "service.kubernetes.io/qcloud-loadbalancer-internal-subnetid", "lbipam.cilium.io/ips", "kubernetes.io/elb.id",
        "service.kubernetes.io/tke-existed-lbid", "service.antrea.io/external-ip-pool", "loxilb.io/staticIP",
        "skupper.io/proxy", "dns.gardener.cloud/dnsnames", "cert.gardener.cloud/secretname",
        "co.elastic.metrics/hosts"}) {
    CAPTURE(key);
    const std::string one = R"({")" + std::string(key) + R"(":"x"})";
    CHECK(says(of_service, one, "").contains("annotation " + std::string(key)));
    CHECK(says(of_service, one, "").contains("the policy key serviceAnnotations"));
    CHECK(says(of_service, one, R"({"serviceAnnotations":[")" + std::string(key) + R"("]})") == "");
    CHECK(says(of_ingress, one, "").contains("the policy key ingressAnnotations"));
    CHECK(says(of_ingress, one, R"({"serviceAnnotations":["*"]})") != "");
  }
  for (std::string_view key :
       {"nginx.ingress.kubernetes.io/configuration-snippet", "nginx.ingress.kubernetes.io/server-alias",
        "nginx.ingress.kubernetes.io/auth-tls-secret", "nginx.ingress.kubernetes.io/canary-weight",
        "alb.ingress.kubernetes.io/group.order", "cert-manager.io/cluster-issuer", "kubernetes.io/tls-acme",
        "kubernetes.io/ingress.global-static-ip-name", "ingress.gcp.kubernetes.io/pre-shared-cert",
        "traefik.ingress.kubernetes.io/router.entrypoints", "traefik.ingress.kubernetes.io/router.priority",
        "haproxy-ingress.github.io/config-backend", "nginx.org/mergeable-ingress-type"}) {
    CAPTURE(key);
    const std::string one = R"({")" + std::string(key) + R"(":"x"})";
    CHECK(says(of_ingress, one, "").contains("annotation " + std::string(key)));
    const std::string domain(key.substr(0, key.find('/')));
    CHECK(says(of_ingress, one, R"({"ingressAnnotations":[")" + domain + R"(/*"]})") == "");
  }
  for (std::string_view key :
       {"note", "team/owner", "service.kubernetes.io/topology-mode", "liqo.io/force-remote-node-port",
        "nginx.ingress.kubernetes.io/rewrite-target", "nginx.ingress.kubernetes.io/proxy-body-size",
        "nginx.ingress.kubernetes.io/backend-protocol", "field.cattle.io/publicEndpoints",
        "kubectl.kubernetes.io/last-applied-configuration"}) {
    CAPTURE(key);
    const std::string one = R"({")" + std::string(key) + R"(":"x"})";
    CHECK(says(of_service, one, "") == "");
    CHECK(says(of_ingress, one, "") == "");
  }
}

TEST_CASE("a class that is named is one that is offered, or one of the policy") {
  const std::string offered[] = {"public"};
  struct Row {
    std::string_view service, ingress;  // spec, and whether they pass with what is offered and with a policy
    bool passes, with_policy;
  };
  constexpr Row rows[] = {
      {R"({"type":"LoadBalancer","loadBalancerClass":"public"})", R"({"ingressClassName":"public"})", true, false},
      {R"({"type":"LoadBalancer","loadBalancerClass":"internal"})", R"({"ingressClassName":"internal"})", false, true},
      {R"({"type":"LoadBalancer"})", R"({"rules":[]})", true, true},
      {R"({"type":"LoadBalancer","loadBalancerClass":null})", R"({"ingressClassName":null})", true, true},
  };
  const PodPolicy listed =
      read_pod_policy(R"({"ingressClasses":["internal"],"loadBalancerClasses":["internal"]})").value();
  for (const Row& row : rows) {
    CAPTURE(row.service);
    const auto made = creating(service(row.service), "pool-1f", {"rome"});
    const auto route = creating(service(row.ingress), "pool-1f", {"rome"});
    const ServiceSurroundings around{.owner_of = owner_of, .offered = offered};
    CHECK(check_service(made, "rome", {}, around).allowed == row.passes);
    CHECK(check_ingress(route, "rome", {}, {.offered = offered}).allowed == row.passes);
    CHECK(check_service(made, "rome", listed, around).allowed == row.with_policy);
    CHECK(check_ingress(route, "rome", listed, {.offered = offered}).allowed == row.with_policy);
  }
  CHECK(refusal(R"({"type":"LoadBalancer","loadBalancerClass":"x"})") ==
        "Service \"s\" may not be in this cluster: spec.loadBalancerClass \"x\" is not among the classes of load "
        "balancers "
        "that the tenant is offered; loadBalancerClasses in the policy names others");
  CHECK(refusal(R"({"type":"LoadBalancer","loadBalancerClass":"x"})", R"({"loadBalancerClasses":["*"]})") == "");
  CHECK(refusal(R"({"type":"ClusterIP","loadBalancerClass":"x"})") == "");
  // A class that is stored may stay, and no other one come.
  const std::string one = service(R"({"ingressClassName":"x"})"), other = service(R"({"ingressClassName":"y"})");
  CHECK(check_ingress(updating(one, one, "pool-1f", {"rome"}), "rome", {}, {}).allowed);
  CHECK_FALSE(check_ingress(updating(one, other, "pool-1f", {"rome"}), "rome", {}, {}).allowed);
  // The older way to name a class.
  const std::string older =
      R"({"metadata":{"name":"s","annotations":{"kubernetes.io/ingress.class":"internal"}},"spec":{}})";
  const auto asked = creating(older, "pool-1f", {"rome"});
  CHECK(check_ingress(asked, "rome", {}, {.offered = offered})
            .message.contains("annotation kubernetes.io/ingress.class \"internal\" is not among the classes"));
  CHECK(check_ingress(asked, "rome", listed, {}).allowed);
}

TEST_CASE("an annotation that is stored can stay as it is, and no other value take its place") {
  const auto with = [](std::string_view value) {
    return R"({"metadata":{"name":"s","namespace":"shop-rome","annotations":{"metallb.io/address-pool":")" +
           std::string(value) + R"("}},"spec":{}})";
  };
  const auto allowed = [&](std::string_view before, std::string_view after) {
    return check_service(updating(with(before), with(after), "pool-1f", {"rome"}), "rome", {}, {.owner_of = owner_of})
        .allowed;
  };
  CHECK(allowed("a", "a"));
  CHECK_FALSE(allowed("a", "b"));
}

TEST_CASE("no Ingress sends traffic to a Service that only stands for another name") {
  const std::string route = R"({"metadata":{"name":"i","namespace":"shop-rome"},"spec":{
      "defaultBackend":{"service":{"name":"web"}},"rules":[{"http":{"paths":[{"backend":{"service":{"name":"api"}}},
      {"backend":{"resource":{"name":"x"}}}]}},{"host":"bare"}]}})";
  CHECK(backends_of(liqo::test::object_of(route)) == std::vector<std::string>{"api", "web"});
  CHECK(sends_to(liqo::test::object_of(route), "api"));
  CHECK_FALSE(sends_to(liqo::test::object_of(route), "x"));
  const auto asked = creating(route, "pool-1f", {"rome"});
  const std::string names[] = {"api", "other"};
  CHECK(check_ingress(asked, "rome", {}, {}).allowed);
  const Answer refused = check_ingress(asked, "rome", {}, {.external_names = names});
  CHECK(refused.message.contains("backend \"api\" would have an Ingress carry traffic"));
  CHECK(refused.message.contains("the policy key externalNameBackends"));
  CHECK(check_ingress(asked, "rome", {.external_name_backends = true}, {.external_names = names}).allowed);
  // The other way round.
  const std::string alias = R"({"metadata":{"name":"api","namespace":"shop-rome"},"spec":{"type":"ExternalName",
      "externalName":"db.example.com"}})";
  const auto made = creating(alias, "pool-1f", {"rome"});
  CHECK(check_service(made, "rome", {}, {.owner_of = owner_of}).allowed);
  CHECK_FALSE(check_service(made, "rome", {}, {.owner_of = owner_of, .is_backend = true}).allowed);
  CHECK(check_service(made, "rome", {.external_name_backends = true}, {.owner_of = owner_of, .is_backend = true})
            .allowed);
}
