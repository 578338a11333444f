// Pods that get no token of home although their account has rights there.
#include "core/offloading/missing_token.hpp"

#include "../objects.hpp"

namespace liqo::core {

using namespace testing;

namespace {

/// A pod of that account that mounts a token for this audience.
kube::Object client(std::string_view account, std::string_view audience = "", std::string_view metadata = "{}") {
  return local_pod("{}",
                   R"({"serviceAccountName": ")" + std::string(account) +
                       R"(", "volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t",
      "audience": ")" + std::string(audience) +
                       R"("}}]}}]})",
                   metadata);
}

kube::Object annotated(std::string_view account, std::string_view said) {
  return client(account, "", R"({"annotations": {"liqo.io/api-server-support": ")" + std::string(said) + R"("}})");
}

kube::Object binding(std::string_view subject, std::string_view ns = "shop") {
  return parse(R"({"metadata": {"name": "flows", "namespace": ")" + std::string(ns) + R"("}, "subjects": [null, )" +
               std::string(subject) + "]}");
}

}  // namespace

TEST_CASE("it is known why a pod that mounts a token of home gets none") {
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::needed;
  ctx.api_server_host.clear();
  ctx.api_server_ips.clear();
  CHECK(why_token_missing(client("default"), ctx) == MissingToken::of_default);
  CHECK(why_token_missing(client(""), ctx) == MissingToken::of_default);
  CHECK(why_token_missing(client("robot"), ctx) == MissingToken::no_address);
  CHECK(why_token_missing(annotated("default", "home"), ctx) == MissingToken::no_address);
  CHECK(why_token_missing(local_pod(), ctx) == MissingToken::none);
  CHECK(why_token_missing(client("default", "vault"), ctx) == MissingToken::none);
  CHECK(why_token_missing(client("robot", "vault"), ctx) == MissingToken::none);
  for (const char* said : {"disabled", "remote"}) {
    CHECK(why_token_missing(annotated("default", said), ctx) == MissingToken::none);
    CHECK(why_token_missing(annotated("robot", said), ctx) == MissingToken::none);
  }
  const Audiences of_home{"vault"};
  ctx.home_audiences = &of_home;
  CHECK(why_token_missing(client("default", "vault"), ctx) == MissingToken::of_default);

  ctx.api_server_host = "10.0.0.1";
  CHECK(why_token_missing(client("robot"), ctx) == MissingToken::none);
  CHECK(why_token_missing(annotated("default", "home"), ctx) == MissingToken::none);
  CHECK(why_token_missing(client("default"), ctx) == MissingToken::of_default);
  ctx.api_server_mode = ApiServerMode::never;
  CHECK(why_token_missing(client("robot"), ctx) == MissingToken::switched_off);
  CHECK(why_token_missing(client("default"), ctx) == MissingToken::switched_off);
  CHECK(why_token_missing(annotated("robot", "disabled"), ctx) == MissingToken::none);
  ctx.api_server_mode = ApiServerMode::always;
  CHECK(why_token_missing(client("robot"), ctx) == MissingToken::none);
}

TEST_CASE("bindings give rights to the accounts that they name") {
  const auto bound = [](const kube::Object& by, std::string_view account) {
    BoundAccounts accounts;
    add_bound_accounts(by, accounts);
    return binding_of(accounts, {"shop", std::string(account)});
  };
  CHECK(bound(binding(R"({"kind": "ServiceAccount", "name": "default", "namespace": "shop"})"), "default") == "flows");
  CHECK(bound(binding(R"({"kind": "ServiceAccount", "name": "default"})"), "default") == "flows");
  CHECK(bound(binding(R"({"kind": "ServiceAccount", "name": "default"})", ""), "default").empty());
  CHECK(bound(binding(R"({"kind": "ServiceAccount", "name": "robot", "namespace": "shop"})"), "default").empty());
  CHECK(bound(binding(R"({"kind": "ServiceAccount", "name": "robot", "namespace": "other"})"), "robot").empty());
  CHECK(bound(binding(R"({"kind": "User", "name": "robot"})"), "robot").empty());
  CHECK(bound(binding(R"({"kind": "Group", "name": "system:serviceaccounts:shop"})"), "robot").empty());
}

TEST_CASE("the Event about a missing token names the setting") {
  const auto words = [](MissingToken why, bool by_template) {
    return describe_missing_token(
        why, {.account = {"shop", "robot"}, .binding = "RoleBinding flows", .by_template = by_template},
        {"rome", "milan"});
  };
  const std::string begin =
      "service account robot has rights in namespace shop (RoleBinding flows), and its pods in cluster milan get no "
      "token for the API server of cluster rome: ";
  CHECK(words(MissingToken::no_address, true) ==
        begin + "set apiServer.hostForPods to an address that they reach, and make those again that need one");
  CHECK(words(MissingToken::switched_off, false) ==
        begin + "set apiServer.support=needed, and make those again that need one");
  CHECK(words(MissingToken::switched_off, true) ==
        begin + "let the VkOptionsTemplate of the virtual node give tokens, and make those again that need one");
  CHECK(words(MissingToken::of_default, true) ==
        begin +
            "let those that need one run as a service account of their own, or annotate them with "
            "liqo.io/api-server-support=home");
  CHECK(words(MissingToken::none, true).empty());
}

}  // namespace liqo::core
