#include "kube/k8s/admission.hpp"

#include <doctest/doctest.h>

#include "kube/base/base64.hpp"

using namespace kube::admission;
namespace json = kube::json;

namespace {

std::string review(std::string_view request, std::string_view version = "admission.k8s.io/v1") {
  return R"({"apiVersion":")" + std::string(version) + R"(","kind":"AdmissionReview","request":)" +
         std::string(request) + "}";
}

constexpr std::string_view asked = R"({
  "uid": "7f", "operation": "UPDATE", "namespace": "twin", "name": "web", "dryRun": true, "subResource": "status",
  "resource": {"group": "offloading.liqo.io", "version": "v1beta1", "resource": "shadowpods"},
  "userInfo": {"username": "slice-1", "groups": ["rome", "system:authenticated"]},
  "object": {"metadata": {"name": "web"}, "unknown": {"kept": 1}},
  "oldObject": {"metadata": {"name": "web"}}, "more": [1]})";

}  // namespace

TEST_CASE("a review is read with everything that rules ask for") {
  const auto request = decode_review(review(asked));
  REQUIRE(request);
  CHECK(request->uid == "7f");
  CHECK(request->operation == Operation::update);
  CHECK(request->group == "offloading.liqo.io");
  CHECK(request->plural == "shadowpods");
  CHECK(request->subresource == "status");
  CHECK(request->ns == "twin");
  CHECK(request->name == "web");
  CHECK(request->dry_run);
  CHECK(request->user.name == "slice-1");
  CHECK(request->user.is_in("rome"));
  CHECK_FALSE(request->user.is_in("milan"));
  CHECK(kube::int_at(request->object.tree(), {"unknown", "kept"}) == 1);
  CHECK(request->old_object.name() == "web");
}

TEST_CASE("what is no review of v1 is refused with the reason") {
  const struct {
    std::string body;
    kube::Errc code;
    std::string_view word;
  } cases[] = {
      {"", kube::Errc::parse, "cannot be read"},
      {review(asked).substr(0, 200), kube::Errc::parse, "cannot be read"},
      {"[]", kube::Errc::parse, "kind"},
      {"\"text\"", kube::Errc::parse, "kind"},
      {R"({"kind":"Pod","apiVersion":"v1"})", kube::Errc::parse, "kind"},
      {review(asked, "admission.k8s.io/v1beta1"), kube::Errc::unsupported, "admission.k8s.io/v1beta1"},
      {review("null"), kube::Errc::parse, "no request"},
      {review("[]"), kube::Errc::parse, "no request"},
      {review("{}"), kube::Errc::parse, "uid"},
      {review(R"({"uid":1})"), kube::Errc::parse, "uid"},
      {review(R"({"uid":"1","operation":"PATCH"})"), kube::Errc::parse, "operation"},
      {review(R"({"uid":"1","operation":"CREATE"})"), kube::Errc::parse, "object"},
      {review(R"({"uid":"1","operation":"CREATE","object":[]})"), kube::Errc::parse, "object"},
      {review(R"({"uid":"1","operation":"UPDATE","object":{"a":1}})"), kube::Errc::parse, "old object"},
      {review(R"({"uid":"1","operation":"CREATE","object":{"a":1},"userInfo":{"groups":[1]}})"), kube::Errc::parse,
       "groups"},
      {std::string(100'000, '['), kube::Errc::parse, "cannot be read"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.body.substr(0, 100));
    const auto request = decode_review(each.body);
    REQUIRE_FALSE(request);
    CHECK(request.error().code() == each.code);
    CHECK(request.error().text().find(each.word) != std::string::npos);
  }
}

TEST_CASE("a deletion has no object") {
  const auto request = decode_review(review(R"({"uid":"1","operation":"DELETE","object":null})"));
  REQUIRE(request);
  CHECK(request->operation == Operation::remove);
}

TEST_CASE("answers are encoded as the API server reads them") {
  const auto encoded = [](const Answer& answer) { return kube::parse_json(encode_review("7f", answer)).value(); };
  CHECK(encoded(Answer::allow()) == json::parse(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",
      "response":{"uid":"7f","allowed":true}})"));
  CHECK(kube::object_at(encoded(Answer::deny("because")), {"response"}) == json::parse(R"({"uid":"7f","allowed":false,
            "status":{"code":403,"reason":"Forbidden","message":"because"}})")
                                                                               .as_object());
  CHECK(kube::object_at(encoded(Answer::unavailable("soon", 3)), {"response", "status"}) ==
        json::parse(R"({"code":503,"reason":"ServiceUnavailable","message":"soon",
            "details":{"retryAfterSeconds":3}})")
            .as_object());

  Answer patched;
  patched.patch = json::parse(R"([{"op":"add","path":"/a","value":1}])").as_array();
  patched.warnings = {"careful"};
  const auto response = encoded(patched);
  CHECK(kube::string_at(response, {"response", "patchType"}) == "JSONPatch");
  const auto patch = kube::decode_base64(kube::string_at(response, {"response", "patch"}));
  REQUIRE(patch);
  CHECK(json::parse(*patch) == patched.patch);
  CHECK(kube::array_at(response, {"response", "warnings"}) == json::array{"careful"});
}

TEST_CASE("a long text is cut between characters") {
  std::string text;
  while (text.size() < 3'000) text += "\xC3\xA4";
  const auto review = kube::parse_json(encode_review("1", Answer::deny("x" + text)));
  REQUIRE(review);
  const std::string_view message = kube::string_at(*review, {"response", "status", "message"});
  CHECK(message.size() <= max_text + 3);
  CHECK(message.ends_with("\xC3\xA4..."));
}
