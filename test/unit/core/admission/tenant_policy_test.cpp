// Policies as administrators write them by hand.
#include "core/admission/tenant_policy.hpp"

#include <doctest/doctest.h>

#include "reviews.hpp"

namespace liqo::core::admission {
namespace {

namespace json = kube::json;

std::string tenant_namespace(std::string_view policy, std::string_view mark = "true") {
  json::object annotations{{"other", "x"}};
  if (!policy.empty()) annotations["liqo.io/pod-policy"] = policy;
  const json::object labels{{"liqo.io/tenant-namespace", mark}, {"liqo.io/remote-cluster-id", "rome"}};
  return json::serialize(json::object{
      {"metadata",
       json::object{{"name", "liqo-tenant-rome"}, {"labels", labels}, {"annotations", std::move(annotations)}}}});
}

constexpr std::string_view typo = R"({"maxResorces":{"cpu":"3"}})", fine = R"({"maxResources":{"cpu":"3"}})";

}  // namespace

TEST_CASE("a policy that is new or changed can be read, and one that is stored may stay") {
  struct Row {
    std::string_view title;
    test::Request request;
    bool passes;
  };
  const Row rows[] = {
      {"new and fine", test::creating(tenant_namespace(fine)), true},
      {"none", test::creating(tenant_namespace("")), true},
      {"new with a typo", test::creating(tenant_namespace(typo)), false},
      {"changed into a typo", test::updating(tenant_namespace(fine), tenant_namespace(typo)), false},
      {"the typo is mended", test::updating(tenant_namespace(typo), tenant_namespace(fine)), true},
      {"taken away", test::updating(tenant_namespace(typo), tenant_namespace("")), true},
      {"stored, and something else changes", test::updating(tenant_namespace(typo), tenant_namespace(typo)), true},
      {"labelled, with a typo from before", test::updating(tenant_namespace(typo, "false"), tenant_namespace(typo)),
       false},
      {"labelled, and fine", test::updating(tenant_namespace(fine, "false"), tenant_namespace(fine)), true},
      {"labelled, without a policy", test::updating(tenant_namespace("", "false"), tenant_namespace("")), true},
      {"the label goes", test::updating(tenant_namespace(typo), tenant_namespace(typo, "false")), true},
      {"no tenant namespace", test::creating(tenant_namespace(typo, "false")), true},
      {"300 KB", test::creating(tenant_namespace("{\"" + std::string(300'000, 'x') + "\":1}")), false},
      {"no JSON", test::creating(tenant_namespace("maxResources=3")), false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.title);
    const Answer answer = validate_tenant_namespace(row.request);
    CHECK(answer.allowed == row.passes);
    CHECK(answer.message.size() < 700);
  }
}

TEST_CASE("the refusal names the key, the one that was meant, and the command that writes it") {
  CHECK(validate_tenant_namespace(test::creating(tenant_namespace(typo))).message ==
        "the annotation liqo.io/pod-policy cannot be read: \"maxResorces\" is not a key of it; did you mean "
        "maxResources? With it rome could create nothing new; liqoctl set tenant rome writes it key by key.");
  CHECK(validate_tenant_namespace(test::creating(tenant_namespace(R"({"hostPorts":1})"))).message ==
        "the annotation liqo.io/pod-policy cannot be read: \"hostPorts\" must be true or false. With it rome could "
        "create nothing new; liqoctl set tenant rome writes it key by key.");
}

TEST_CASE("where the mistake is stored already the refusal names the flag that mends it") {
  constexpr std::string_view more = R"({"maxResorces":{"cpu":"3"},"hostPorts":true})";
  CHECK(validate_tenant_namespace(test::updating(tenant_namespace(typo), tenant_namespace(more))).message ==
        "the annotation liqo.io/pod-policy cannot be read: \"maxResorces\" is not a key of it; did you mean "
        "maxResources? With it rome could create nothing new; nor can the policy be read that is stored: liqoctl set "
        "tenant rome --unset maxResorces mends it.");
}

TEST_CASE("a type of Service that nobody knows would forbid nothing: a new one is refused") {
  const auto refusing = [](std::string_view types) {
    return tenant_namespace(R"({"refusedServiceTypes":[)" + std::string(types) + "]}");
  };
  const std::string stored = refusing(R"("Loadbalancer")");
  CHECK(validate_tenant_namespace(test::creating(stored)).message ==
        "the annotation liqo.io/pod-policy, refusedServiceTypes: \"Loadbalancer\" is no type of Service that can be "
        "refused; did you mean LoadBalancer?");
  CHECK(validate_tenant_namespace(test::updating(stored, refusing(R"("Loadbalancer","NodePort")"))).allowed);
  CHECK(validate_tenant_namespace(test::updating(stored, tenant_namespace(fine))).allowed);
  const std::string unlabelled = tenant_namespace(R"({"refusedServiceTypes":["Loadbalancer"]})", "");
  CHECK(validate_tenant_namespace(test::updating(unlabelled, stored)).message.contains("did you mean LoadBalancer?"));
  CHECK(
      mistaken_service_type(R"({"refusedServiceTypes":["NodePort","Loadbalancer"]})").starts_with("\"Loadbalancer\""));
  CHECK(mistaken_service_type(R"({"refusedServiceTypes":["NodePort"]})") == "");
  CHECK(mistaken_service_type("") == "");
  CHECK_FALSE(validate_tenant_namespace(test::updating(stored, refusing(R"("Loadbalancer","nodeport")"))).allowed);
  CHECK(validate_tenant_namespace(test::creating(refusing(R"("LoadBalancer","NodePort","ExternalName","*")"))).allowed);
  CHECK(why_unreadable(R"({"refusedServiceTypes":["Loadbalancer"]})") == "");
  CHECK(why_no_service_type("EXTERNALNAME").ends_with("did you mean ExternalName?"));
  CHECK(
      why_no_service_type("ClusterIP") ==
      "\"ClusterIP\" is no type of Service that can be refused: there are LoadBalancer, NodePort, ExternalName, and * "
      "for all of them");
  CHECK(why_no_service_type(std::string(300'000, '\x1b')).size() < 300);
}

TEST_CASE("the refusal is a whole sentence where the label of the consumer is missing") {
  const Answer answer = validate_tenant_namespace(test::creating(R"({"metadata":{"name":"x",
      "labels":{"liqo.io/tenant-namespace":"true"},"annotations":{"liqo.io/pod-policy":"[]"}}})"));
  CHECK(
      answer.message.ends_with("With it its consumer could create nothing new; liqoctl set tenant ID writes it key by "
                               "key."));
}

TEST_CASE("what mends a stored policy depends on whether it has keys") {
  const std::string anew =
      "liqoctl set tenant rome --replace writes it anew; limits that it does not name are gone then";
  CHECK(policy_remedy(typo, "rome") == "liqoctl set tenant rome --unset maxResorces mends it");
  CHECK(policy_remedy(R"({"maxResorces":{},"hostPorts":true,"nodeName":1})", "rome") ==
        "liqoctl set tenant rome --unset maxResorces --unset nodeName mends it");
  CHECK(policy_remedy(R"({"a;reboot":1})", "rome") == anew);
  CHECK(policy_remedy(R"({"--yes":1})", "rome") == anew);
  CHECK(policy_remedy(R"({"a":1,"b":1,"c":1,"d":1,"e":1,"f":1})", "rome") == anew);
  CHECK(policy_remedy("{maxResources:3}", "rome") == anew);
  CHECK(policy_remedy("[]", "rome") == anew);
  CHECK(policy_remedy("{\"" + std::string(20'000, 'x') + "\":1}", "rome") == anew);
  CHECK(policy_remedy(typo, std::string(100'000, '\x1b')).size() < 1000);
}

TEST_CASE("why a stored policy cannot be read is short and printable") {
  CHECK(why_unreadable(fine) == "");
  CHECK(why_unreadable("") == "");
  CHECK(why_unreadable(std::string(300'000, 'x')) == "it is larger than 16 KiB");
  CHECK_FALSE(why_unreadable("{\"\x1b[31m\":1}").contains('\x1b'));
}

}  // namespace liqo::core::admission
