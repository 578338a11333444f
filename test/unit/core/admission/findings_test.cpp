// Finds what an update adds, however much was stored before there was a rule against it.
#include <doctest/doctest.h>

#include "core/admission/claims.hpp"
#include "core/admission/exposure.hpp"
#include "core/admission/shadow_pod.hpp"
#include "reviews.hpp"

using namespace liqo::core::admission;
using liqo::core::read_pod_policy;
using liqo::test::updating;
namespace json = kube::json;

namespace {

constexpr int stored = 12;

NamespaceOwner nobodys(std::string_view) { return NamespaceOwner::none; }

/// An object of a consumer with so many things that a rule of today refuses.
struct Kind {
  std::string_view name;
  std::string (*object)(int bad);
  Answer (*check)(const Request& request);
};

std::string numbered(int count, std::string_view before, std::string_view after, std::string_view between = ",") {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i == 0 ? "" : std::string(between)) + std::string(before) + std::to_string(i) + std::string(after);
  return text;
}

std::string service_of(std::string_view annotations, std::string_view spec) {
  return R"({"metadata":{"name":"s","namespace":"shop-rome","annotations":{)" + std::string(annotations) +
         R"(}},"spec":{)" + std::string(spec) + "}}";
}

Answer service(const Request& request) { return check_service(request, "rome", {}, {.owner_of = nobodys}); }

const Kind kinds[] = {
    {"addresses of a Service",
     [](int bad) { return service_of("", R"("externalIPs":[)" + numbered(bad, "\"192.0.2.", "\"") + "]"); }, service},
    {"hosts of an Ingress",
     [](int bad) {
       return service_of("", R"("rules":[)" + numbered(bad, R"({"host":")", std::string(150, 'a') + R"("})") + "]");
     },
     [](const Request& request) {
       return check_ingress(request, "rome", read_pod_policy(R"({"ingressHosts":["b.example.com"]})").value(), {});
     }},
    {"labels of a ShadowPod",
     [](int bad) {
       return R"({"metadata":{"name":"web","namespace":"shop-rome","labels":{"offloading.liqo.io/origin":"rome",
         "liqo.io/creator-user":"pool-1f",)" +
              numbered(bad, "\"sidecar.istio.io/" + std::string(100, 'a'), R"(":"x")") +
              R"(}},"spec":{"pod":{"containers":[{"name":"a"}]}}})";
     },
     [](const Request& request) {
       return validate_shadow_pod(request, {.remote_cluster = "rome", .policy = {}, .offered_classes = {}});
     }},
    {"unknown fields of a claim",
     [](int bad) { return service_of("", R"("storageClassName":"fast",)" + numbered(bad, "\"tomorrow", "\":1")); },
     [](const Request& request) {
       const std::string offered[] = {"fast"};
       return check_claim(request, "rome", {}, offered);
     }},
};

}  // namespace

TEST_CASE("a new finding does not hide behind those that were stored") {
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    const auto asks = [&kind](int before, int after) {
      return kind.check(updating(kind.object(before), kind.object(after), "pool-1f", {"rome"}));
    };
    CHECK(asks(stored, stored).allowed);
    CHECK(asks(stored, stored - 1).allowed);
    const Answer answer = asks(stored, stored + 1);
    CHECK_FALSE(answer.allowed);
    CHECK(answer.message.contains("may not "));
    CHECK_FALSE(answer.message.contains("and perhaps more"));
  }
}

TEST_CASE("an annotation that exposes is seen behind everything else that is wrong with a Service") {
  const std::string spec = R"("externalIPs":[)" + numbered(stored, "\"192.0.2.", "\"") + "]";
  const std::string annotation = R"("external-dns.alpha.kubernetes.io/hostname":"a.example.com")";
  const Answer answer = service(updating(service_of("", spec), service_of(annotation, spec), "pool-1f", {"rome"}));
  CHECK(answer.message.contains("external-dns"));
}

TEST_CASE("a refusal shows some findings and says that there are more") {
  const std::string bad = R"("externalIPs":[)" + numbered(100, "\"192.0.2.", "\"") + "]";
  const Answer answer = service(updating(service_of("", ""), service_of("", bad), "pool-1f", {"rome"}));
  CHECK(answer.message.contains("192.0.2.7\""));
  CHECK_FALSE(answer.message.contains("192.0.2.8\""));
  CHECK(answer.message.ends_with("and perhaps more"));
}
