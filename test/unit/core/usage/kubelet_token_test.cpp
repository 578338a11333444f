#include "core/usage/kubelet_token.hpp"

#include <doctest/doctest.h>

#include "kube/k8s/object.hpp"

namespace {

namespace core = liqo::core;
namespace json = kube::json;
using namespace std::chrono_literals;

kube::Failure refusal(int code) { return kube::Failure::from_status({.code = code, .message = "nobody may"}); }

}  // namespace

TEST_CASE("a token for kubelets is asked for as one of an hour, for the audience of the API server") {
  CHECK(core::forge_kubelet_token_request() ==
        json::parse(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",
                        "spec":{"audiences":[],"expirationSeconds":3600}})"));
}

TEST_CASE("a token for kubelets is renewed after two thirds of the time that it was given") {
  struct Row {
    const char* answer;
    std::chrono::seconds renewed;
  };
  for (const Row& row : {Row{R"({"spec":{"expirationSeconds":3600},"status":{"token":"t"}})", 40min},
                         Row{R"({"spec":{"expirationSeconds":600},"status":{"token":"t"}})", 400s},
                         Row{R"({"status":{"token":"t"}})", 40min},
                         // What makes no sense neither stops nor floods.
                         Row{R"({"spec":{"expirationSeconds":-5},"status":{"token":"t"}})", 2min},
                         Row{R"({"spec":{"expirationSeconds":99999999},"status":{"token":"t"}})", 40min}}) {
    CAPTURE(row.answer);
    const auto token = core::read_kubelet_token(json::parse(row.answer));
    REQUIRE(token);
    CHECK(token->text == "t");
    CHECK(token->renew_after() == row.renewed);
  }
  for (const char* answer : {"{}", "[]", "7", R"({"status":{"token":""}})", R"({"status":{"token":7}})"}) {
    CAPTURE(answer);
    CHECK_FALSE(core::read_kubelet_token(json::parse(answer)));
  }
}

TEST_CASE("who gets no token for kubelets is told what to do") {
  for (const int code : {403, 404}) {
    CAPTURE(code);
    const std::string said = core::no_kubelet_token("liqo", refusal(code));
    CHECK(said.contains("ServiceAccount liqo/liqo-metric-agent"));
    CHECK(said.contains("upgrade the installation"));
  }
  CHECK(core::no_kubelet_token("liqo", kube::Failure(kube::Errc::timeout, "too late")).ends_with(": too late"));
}
