// Secrets with tokens that somebody has made by hand.
#include "core/offloading/token_secrets.hpp"

#include "../objects.hpp"
#include "core/offloading/default_account.hpp"

namespace liqo::core {

using namespace testing;

TEST_CASE("a pod needs the Secrets that it mounts and reads, unless they are optional") {
  const kube::Object pod = local_pod("{}", R"({"volumes": [{"name": "a", "secret": {"secretName": "mounted"}},
      {"name": "b", "secret": {"secretName": "maybe", "optional": true}}, {"name": "c", "projected": {"sources": [
        {"secret": {"name": "projected"}}, {"secret": {"name": "perhaps", "optional": true}}, 1]}}, null],
    "imagePullSecrets": [{"name": "pull"}], "initContainers": [{"name": "i", "envFrom": [{"secretRef": {"name": "all"}}]}],
    "containers": [{"name": "c", "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "key", "key": "k"}}},
      {"name": "B", "valueFrom": {"secretKeyRef": {"name": "key2", "key": "k", "optional": true}}}, null]}]})");
  CHECK(needed_secrets(pod) == std::set<std::string>{"all", "key", "mounted", "projected"});
  CHECK(needed_secrets(local_pod()).empty());
}

TEST_CASE("a token is copied only as annotated") {
  const auto may = [](std::string_view annotations) {
    return may_copy_token(parse(R"({"metadata": {"name": "t", "annotations": )" + std::string(annotations) + "}}"));
  };
  CHECK_FALSE(may("{}"));
  CHECK(may(R"({"liqo.io/allow-reflection": "true"})"));
  CHECK_FALSE(may(R"({"liqo.io/allow-reflection": "False"})"));
  CHECK_FALSE(may(R"({"liqo.io/allow-reflection": "true", "liqo.io/skip-reflection": ""})"));
}

TEST_CASE("pods of the account default miss its token where the account has rights") {
  const auto pod = [](std::string_view account, std::string_view audience = "", std::string_view metadata = "{}") {
    return local_pod("{}",
                     R"({"serviceAccountName": ")" + std::string(account) +
                         R"(", "volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t",
      "audience": ")" + std::string(audience) +
                         R"("}}]}}]})",
                     metadata);
  };
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::needed;
  CHECK(misses_token_of_default(pod("default"), ctx));
  CHECK(misses_token_of_default(pod(""), ctx));
  CHECK_FALSE(misses_token_of_default(pod("robot"), ctx));
  CHECK_FALSE(misses_token_of_default(pod("default", "vault"), ctx));
  CHECK_FALSE(misses_token_of_default(local_pod(), ctx));
  const Audiences of_home{"vault"};
  ctx.home_audiences = &of_home;
  CHECK(misses_token_of_default(pod("default", "vault"), ctx));
  for (const char* said : {"home", "disabled", "remote"})
    CHECK_FALSE(misses_token_of_default(
        pod("default", "", R"({"annotations": {"liqo.io/api-server-support": ")" + std::string(said) + R"("}})"), ctx));
  ctx.api_server_mode = ApiServerMode::always;
  CHECK_FALSE(misses_token_of_default(pod("default"), ctx));

  const auto binds = [](std::string_view subject) {
    return binds_default_account(parse(R"({"metadata": {"name": "flows", "namespace": "shop"}, "subjects": [null, )" +
                                       std::string(subject) + "]}"));
  };
  CHECK(binds(R"({"kind": "ServiceAccount", "name": "default", "namespace": "shop"})"));
  CHECK(binds(R"({"kind": "ServiceAccount", "name": "default"})"));
  CHECK_FALSE(binds(R"({"kind": "ServiceAccount", "name": "default", "namespace": "other"})"));
  CHECK_FALSE(binds(R"({"kind": "User", "name": "default"})"));
}

}  // namespace liqo::core
