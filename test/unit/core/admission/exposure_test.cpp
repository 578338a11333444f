#include "liqo/core/admission/exposure.hpp"

#include <doctest/doctest.h>

#include "reviews.hpp"

using namespace liqo::core::admission;
using liqo::test::creating;
using liqo::test::updating;
namespace json = kube::json;

namespace {

bool is_own(std::string_view ns) { return ns == "shop-rome" || ns == "lab-rome"; }

std::string service(std::string_view spec) {
  return R"({"metadata":{"name":"s","namespace":"shop-rome"},"spec":)" + std::string(spec) + "}";
}

std::string refusal(std::string_view spec, std::string_view policy = "") {
  const auto answer =
      check_service(creating(service(spec), "pool-1f", {"rome"}), "rome", read_pod_policy(policy).value(), is_own);
  return answer.allowed ? "" : answer.message;
}

std::string ingress_refusal(std::string_view spec, std::string_view policy) {
  const auto answer =
      check_ingress(creating(service(spec), "pool-1f", {"rome"}), "rome", read_pod_policy(policy).value());
  return answer.allowed ? "" : answer.message;
}

}  // namespace

TEST_CASE("what Go Liqo reflects of a Service passes, whatever its type") {
  for (std::string_view spec :
       {R"({"ports":[{"name":"http","protocol":"TCP","port":80,"targetPort":8080,"nodePort":0}],"selector":{"a":"b"},
           "type":"ClusterIP","sessionAffinity":"ClientIP","externalName":"","externalTrafficPolicy":"",
           "publishNotReadyAddresses":false,"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster"})",
        R"({"clusterIP":"None","selector":{"a":"b"}})", R"({"type":"NodePort","ports":[{"port":80,"nodePort":30080}]})",
        R"({"type":"LoadBalancer","loadBalancerClass":"x","loadBalancerSourceRanges":["10.0.0.0/8"]})",
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
      {R"({"type":"ExternalName","externalName":"cluster.local.cluster.local"})", "what others have",
       R"({"otherNamespaces":true})"},
      {R"({"type":"ExternalName","externalName":"10.0.0.1"})", "is an address", R"({"externalIPs":true})"},
      {R"({"type":"ExternalName","externalName":"localhost"})", "is an address", R"({"externalIPs":true})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.spec);
    CHECK(refusal(row.spec).find(row.says) != std::string::npos);
    CHECK(refusal(row.spec).find("in the policy allows it") != std::string::npos);
    CHECK(refusal(row.spec, row.policy) == "");
  }
  CHECK(refusal(R"({"type":"ExternalName","externalName":"web.lab-rome.svc.cluster.local"})") == "");
  CHECK(refusal(R"({"type":"ExternalName","externalName":"web.lab-rome.svc"})") == "");
  // In the middle of a name it means nothing.
  CHECK(refusal(R"({"type":"ExternalName","externalName":"api.svc.example.com"})") == "");
}

TEST_CASE("types of Services pass that the policy does not refuse") {
  constexpr std::string_view policy = R"({"refusedServiceTypes":["LoadBalancer","ExternalName"]})";
  CHECK(refusal(R"({"type":"LoadBalancer"})", policy) ==
        R"(Service s may not be in this cluster: spec.type "LoadBalancer" is among refusedServiceTypes of the policy)");
  CHECK(refusal(R"({"type":"ExternalName","externalName":"a.example.com"})", policy) != "");
  CHECK(refusal(R"({"type":"NodePort"})", policy) == "");
  CHECK(refusal(R"({"type":"NodePort"})", R"({"refusedServiceTypes":["*"]})") != "");
  CHECK(refusal(R"({"type":"ClusterIP"})", R"({"refusedServiceTypes":["*"]})") == "");
}

TEST_CASE("others than the consumer write what they like, and so does everybody where it is deleted") {
  const std::string bad = service(R"({"externalIPs":["10.96.0.1"]})");
  CHECK(check_service(creating(bad, "admin", {"system:masters"}), "rome", {}, is_own).allowed);
  CHECK(check_service(creating(bad, "pool-2a", {"paris"}), "rome", {}, is_own).allowed);
  CHECK(check_service(creating(bad, "pool-1f", {"rome"}), "", {}, is_own).allowed);
  CHECK_FALSE(check_service(creating(bad, "rome", {"liqo.io"}), "rome", {}, is_own).allowed);
  Request removal = creating(bad, "pool-1f", {"rome"});
  removal.operation = Operation::remove;
  CHECK(check_service(removal, "rome", {}, is_own).allowed);
}

TEST_CASE("what is stored can stay, and nothing is added to it") {
  const std::string plain = service(R"({"ports":[]})");
  const std::string one = service(R"({"externalIPs":["192.0.2.1"]})");
  const std::string other = service(R"({"externalIPs":["192.0.2.2"]})");
  const auto allowed = [](const std::string& before, const std::string& after) {
    return check_service(updating(before, after, "pool-1f", {"rome"}), "rome", {}, is_own).allowed;
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
