// The objects that a Go consumer sends all day, checked against the default policy: a default that refuses one of these
// objects breaks a peering that works. Objects that are too much for any policy get one clear line.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "core/admission/check_orders.hpp"
#include "core/admission/claims.hpp"
#include "core/admission/exposure.hpp"
#include "core/admission/shadow_pod.hpp"
#include "core/admission/tenant_rules.hpp"
#include "core/offloading/left_out.hpp"
#include "core/offloading/provider_pod.hpp"
#include "reviews.hpp"

using namespace liqo::core::admission;
using liqo::core::TwinKind;
namespace json = kube::json;

namespace {

json::array corpus() {
  std::ifstream file(LIQO_FIXTURES "/go-consumer/objects.json");
  REQUIRE(file.good());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return json::parse(text).as_array();
}

Request sent(const json::object& object) {
  Request request;
  request.uid = "1";
  request.object = kube::Object(object);
  request.ns = request.object.ns();
  request.name = request.object.name();
  request.user = {"milan-1f", {"rome", "system:authenticated"}};
  return request;
}

Answer ask(std::string_view plural, const Request& request) {
  const std::string offered[] = {"standard"}, balancers[] = {"metallb"}, routes[] = {"nginx"};
  const auto owner_of = [](std::string_view ns) {
    return ns == "shop-rome" ? NamespaceOwner::consumer : NamespaceOwner::none;
  };
  if (plural == "shadowpods") {
    Request stamped = request;
    stamped.object.set_label("liqo.io/creator-user", "milan-1f");
    stamped.object.mutable_metadata()["uid"] = "uid-1";
    return validate_shadow_pod(stamped, {.remote_cluster = "rome", .policy = {}, .offered_classes = {}});
  }
  if (plural == "services") return check_service(request, "rome", {}, {.owner_of = owner_of, .offered = balancers});
  if (plural == "ingresses") return check_ingress(request, "rome", {}, {.offered = routes});
  if (plural == "secrets") {
    const Answer answer = check_secret(request, "rome");
    return answer.allowed ? check_orders(request, "rome", TwinKind::secret, {}) : answer;
  }
  if (plural == "configmaps") return check_orders(request, "rome", TwinKind::config_map, {});
  if (plural == "persistentvolumeclaims") return check_claim(request, "rome", {}, offered);
  // No rule of admission is about these.
  CHECK(plural == "shadowendpointslices");
  return Answer::allow();
}

std::string clear_line(const Answer& answer) {
  CHECK_FALSE(answer.allowed);
  CHECK(answer.message.size() < max_text);
  CHECK_FALSE(answer.message.contains('\n'));
  return answer.message;
}

}  // namespace

TEST_CASE("everything that a Go consumer sends is let in by the default policy") {
  std::set<std::string> kinds;
  for (const json::value& entry : corpus()) {
    const std::string_view plural = kube::string_at(entry, {"plural"});
    CAPTURE(kube::string_at(entry, {"what"}));
    kinds.emplace(plural);
    const Request request = sent(kube::object_at(entry, {"object"}));
    CHECK(ask(plural, request).message == "");
    // Sent again, as a Go consumer does that compares, it is still let in.
    Request again = request;
    again.operation = Operation::update;
    again.old_object = request.object;
    CHECK(ask(plural, again).message == "");
  }
  CHECK(kinds.size() == 7);
}

TEST_CASE("of its pods that is left out which could be an order to the provider's cluster, and nothing else") {
  for (const json::value& entry : corpus()) {
    if (kube::string_at(entry, {"plural"}) != "shadowpods") continue;
    CAPTURE(kube::string_at(entry, {"what"}));
    const kube::Object shadow(kube::object_at(entry, {"object"}));
    const kube::Object pod = liqo::core::forge_provider_pod(shadow);
    std::vector<std::string> expected;
    for (const json::value& thing : kube::array_at(entry, {"leavesOut"})) expected.emplace_back(thing.as_string());
    CHECK(liqo::core::read_left_out(pod.annotation("offloading.liqo.io/left-out")) == expected);
    for (const auto& label : shadow.labels()) CHECK(pod.label(label.key()) == label.value().as_string());
  }
}

TEST_CASE("objects that are too deep, too large or of tomorrow get one clear line") {
  const auto shadow = [](json::object pod) {
    json::object object = corpus().front().at("object").as_object();
    object["spec"] = json::object{{"pod", std::move(pod)}};
    return sent(object);
  };
  const auto containers = [] { return json::array{json::object{{"name", "a"}, {"image", "i"}}}; };

  json::value deep = json::object();
  for (int i = 0; i < 1'000; ++i) deep = json::object{{"a", std::move(deep)}};
  const std::string review = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1",
      "operation":"CREATE","object":{"spec":{"pod":)";
  std::string nested = review;
  for (int i = 0; i < 1'000; ++i) nested += R"({"a":)";
  nested += "1" + std::string(1'000, '}') + "}}}}";
  const auto decoded = decode_review(nested);
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().text().contains("cannot be read"));
  CHECK_FALSE(decoded.error().text().contains('\n'));
  // If it has come in all the same, the first level is enough.
  CHECK(clear_line(ask("shadowpods", shadow({{"containers", containers()}, {"deep", std::move(deep)}})))
            .contains("spec.deep is not known to the pod firewall"));

  const std::string larger(1'500'000, 'x');
  CHECK(clear_line(ask("shadowpods", shadow({{"containers", containers()}, {"schedulerName", larger}})))
            .contains("can have 131072 bytes, and this one has 15"));
  const std::string large(100'000, 'x');
  json::object wide{{"containers", containers()}};
  for (int i = 0; i < 1'000; ++i) wide["field" + std::to_string(i)] = large.substr(0, 60);
  CHECK(clear_line(ask("shadowpods", shadow(wide))).contains("and perhaps more"));
  CHECK(clear_line(ask("shadowpods", shadow({{"containers", containers()}, {large, 1}}))).contains("is not known"));
  CHECK(clear_line(ask("shadowpods", shadow({{"containers", containers()}, {"schedulerName", large}})))
            .contains("spec.schedulerName"));

  json::array of_tomorrow = containers();
  of_tomorrow[0].as_object()["teleport"] = json::object{{"to", "node"}};
  CHECK(clear_line(ask("shadowpods", shadow({{"containers", of_tomorrow}})))
            .contains("spec.containers[0].teleport is not known to the pod firewall"));
}
