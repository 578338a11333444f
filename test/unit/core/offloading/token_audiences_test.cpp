// Which projected tokens of a pod come from home.
#include "core/offloading/token_audiences.hpp"

#include <algorithm>

#include "../objects.hpp"
#include "core/offloading/ephemeral_containers.hpp"
#include "core/offloading/home_root_ca.hpp"
#include "core/offloading/service_account_token.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "kube/base/base64.hpp"

namespace liqo::core {
namespace {

using namespace testing;

const Audiences home_audiences{"https://kubernetes.default.svc", "api"};

ForgingContext audience_context() {
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::needed;
  ctx.audience_tokens = AudienceTokens::always;
  ctx.home_audiences = &home_audiences;
  return ctx;
}

/// A pod of that account with a token for Vault, one for home's API server by name, and one without an audience.
kube::Object pod_of(std::string_view account, std::string_view metadata = "{}") {
  return local_pod("{}",
                   R"({"serviceAccountName": ")" + std::string(account) + R"(", "volumes": [{"name": "all", "projected":
    {"sources": [{"serviceAccountToken": {"path": "vault", "audience": "vault"}},
                 {"serviceAccountToken": {"path": "api", "audience": "api"}},
                 {"serviceAccountToken": {"path": "token"}}]}}]})",
                   metadata);
}

/// The paths of the tokens that the ShadowPod mounts.
std::string mounted_paths(const kube::Object& pod, const ForgingContext& ctx) {
  const auto forged = forge_shadow_pod(pod, "shop-rome", ctx);
  REQUIRE(forged.has_value());
  std::string paths;
  for (const json::value& volume : kube::array_at(forged->shadow.spec(), {"pod", "volumes"}))
    for (const json::value& source : kube::array_at(volume, {"projected", "sources"}))
      for (const json::value& item : kube::array_at(source, {"secret", "items"}))
        paths += std::string(kube::string_at(item, {"path"})) + " ";
  return paths;
}

kube::Object pod_with(std::size_t tokens, const std::string& audience) {
  json::array sources;
  for (std::size_t i = 0; i < tokens; ++i)
    sources.push_back(json::object{{"serviceAccountToken", json::object{{"path", std::to_string(i)},
                                                                        {"audience", audience + std::to_string(i)}}}});
  kube::Object pod = local_pod();
  pod.mutable_spec()["volumes"] =
      json::array{json::object{{"name", "many"}, {"projected", json::object{{"sources", std::move(sources)}}}}};
  return pod;
}

}  // namespace

TEST_CASE("a token with an audience of its own comes from home for every account, address or not") {
  const Audiences unknown;
  struct Case {
    const char *title, *account, *metadata, *host, *mounted;
    ApiServerMode mode = ApiServerMode::needed;
    bool is_known = true;
    AudienceTokens tokens = AudienceTokens::always;
  };
  constexpr const char *plain = "{}", *robot = "robot", *all = "vault api token ", *named = "vault ";
  constexpr const char* disabled = R"({"annotations": {"liqo.io/api-server-support": "disabled"}})";
  constexpr const char* home = R"({"annotations": {"liqo.io/api-server-support": "home"}})";
  for (const Case& c : {
           Case{"the account that every pod has", "default", plain, "", named},
           Case{"its API server has an address", "default", plain, "10.0.0.1", named},
           Case{"an account of its own, no address", robot, plain, "", named},
           Case{"an account of its own, and an address", robot, plain, "10.0.0.1", all},
           Case{"asked for", "default", home, "10.0.0.1", all},
           Case{"no tokens at all by the pod's own word", robot, disabled, "10.0.0.1", ""},
           Case{"none for the API server", robot, plain, "10.0.0.1", named, ApiServerMode::never},
           Case{"all for the API server", "default", plain, "", all, ApiServerMode::always},
           Case{"its audiences are not known", "default", plain, "", "", ApiServerMode::needed, false},
           Case{"not known, but all are given", robot, plain, "10.0.0.1", all, ApiServerMode::needed, false},
           Case{"switched off", "default", plain, "", "", ApiServerMode::needed, true, AudienceTokens::never},
           Case{"switched off, and all are given", robot, plain, "1.1.1.1", all, ApiServerMode::needed, true,
                AudienceTokens::never},
       }) {
    CAPTURE(c.title);
    ForgingContext ctx = audience_context();
    ctx.api_server_mode = c.mode;
    ctx.api_server_host = c.host;
    ctx.audience_tokens = c.tokens;
    if (!c.is_known) ctx.home_audiences = &unknown;
    const kube::Object pod = pod_of(c.account, c.metadata);
    CHECK(mounted_paths(pod, ctx) == c.mounted);
    CHECK(needs_tokens(pod, ctx) == !std::string_view(c.mounted).empty());
    const auto shadow = forge_shadow_pod(pod, "shop-rome", ctx)->shadow;
    CHECK(mounted_tokens(shadow).size() == std::size_t(std::ranges::count(std::string_view(c.mounted), ' ')));
    // A token for somebody else is none for the API server.
    CHECK(mounts_home_token(pod, mounted_tokens(shadow), ctx) == (std::string_view(c.mounted) == all));
  }
}

TEST_CASE("the audiences of home matter where the token for its API server is not given") {
  ForgingContext ctx = audience_context();
  CHECK(depends_on_audiences(pod_of("default"), ctx));
  CHECK(depends_on_audiences(pod_of("robot"), ctx));
  CHECK_FALSE(depends_on_audiences(local_pod(), ctx));
  CHECK_FALSE(
      depends_on_audiences(pod_of("robot", R"({"annotations": {"liqo.io/api-server-support": "remote"}})"), ctx));
  ctx.api_server_host = "10.0.0.1";
  CHECK(depends_on_audiences(pod_of("default"), ctx));
  CHECK_FALSE(depends_on_audiences(pod_of("robot"), ctx));
  ctx.audience_tokens = AudienceTokens::never;
  CHECK_FALSE(depends_on_audiences(pod_of("default"), ctx));
}

TEST_CASE("a token that was asked for by name and is not given is told, and one for Vault needs no API server") {
  ForgingContext ctx = audience_context();
  CHECK(unsent_tokens(pod_of("default"), ctx) == "");
  ctx.audience_tokens = AudienceTokens::never;
  CHECK(unsent_tokens(pod_of("default"), ctx) == "serviceAccountToken (audience vault)");
  const auto forged = forge_shadow_pod(pod_of("default"), "shop-rome", ctx);
  CHECK(forged->dropped_fields.back() == "serviceAccountToken (audience vault)");
  CHECK(unsent_tokens(pod_of("robot", R"({"annotations": {"liqo.io/api-server-support": "disabled"}})"), ctx) == "");

  const kube::Object vault = local_pod("{}", R"({"serviceAccountName": "robot", "volumes": [{"name": "v", "projected":
    {"sources": [{"serviceAccountToken": {"path": "vault", "audience": "vault"}}]}}]})");
  CHECK(api_server_trouble(vault, audience_context(), false) == "");
  CHECK(api_server_trouble(pod_of("robot"), audience_context(), false) != "");
}

TEST_CASE("more tokens than fit are refused in one line, and long audiences are not") {
  const ForgingContext ctx = audience_context();
  const std::string long_audience(1000, 'a');
  CHECK(excess_of_tokens(pod_with(3, long_audience), ctx) == "");
  const auto request = forge_token_request(local_pod(), {"k", long_audience, std::chrono::seconds(600)});
  CHECK(kube::array_at(request, {"spec", "audiences"}).at(0).as_string() == std::string_view(long_audience));
  CHECK(excess_of_tokens(pod_with(100, "v"), ctx) == "");
  CHECK(excess_of_tokens(pod_with(300, "v"), ctx) ==
        "it mounts 300 tokens of service accounts, and at most 100 of one pod are brought: mount fewer");
  CHECK(excess_of_tokens(pod_with(70, long_audience), ctx) ==
        "the audiences of its tokens have 70130 bytes together, and at most 65536 fit: shorten them");
  CHECK_FALSE(forge_shadow_pod(pod_with(300, "v"), "shop-rome", ctx).has_value());
  ForgingContext none = ctx;
  none.audience_tokens = AudienceTokens::never;
  CHECK(excess_of_tokens(pod_with(300, "v"), none) == "");
  // What is told of them stays short, too.
  CHECK(unsent_tokens(pod_with(80, long_audience), none).size() < 800);
}

TEST_CASE("the audiences of an API server are those of the token that it makes") {
  const auto token = [](std::string_view claims) {
    std::string text = kube::encode_base64(claims);
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    while (text.ends_with('=')) text.pop_back();
    return "e30." + text + ".sig";
  };
  const auto read = [](const std::string& jwt, std::string_view spec = R"({"audiences": ["said"]})") {
    return read_audiences(parse(R"({"metadata": {"name": "x"}, "spec": )" + std::string(spec) +
                                R"(, "status": {"token": ")" + jwt + R"("}})"));
  };
  CHECK(read(token(R"({"aud": ["a", "b"], "sub": "?>~~"})")) == Audiences{"a", "b"});
  CHECK(read(token(R"({"aud": "one"})")) == Audiences{"one"});
  CHECK(read("opaque") == Audiences{"said"});
  CHECK(read("a.%%%.c") == Audiences{"said"});
  CHECK(read(token(R"({"aud": 5})"), R"({"audiences": [""]})").empty());
  CHECK(read(token("[]"), "{}").empty());
}

TEST_CASE("home's CA takes the place of the provider's wherever a pod names it") {
  json::object spec = parse_value(R"({
    "volumes": [{"name": "a", "configMap": {"name": "kube-root-ca.crt"}}, {"name": "b", "configMap": {"name": "mine"}}, null],
    "containers": [{"name": "c", "env": [{"name": "CA", "valueFrom": {"configMapKeyRef": {"name": "kube-root-ca.crt", "key": "ca.crt"}}},
                                         {"name": "X", "value": "kube-root-ca.crt"}, 3],
                    "envFrom": [{"configMapRef": {"name": "kube-root-ca.crt"}}]}],
    "initContainers": [{"name": "i", "envFrom": [{"configMapRef": {"name": "kube-root-ca.crt"}}]}]})")
                          .get_object();
  name_home_root_ca(spec, context());
  const std::string text = json::serialize(spec);
  const auto count = [&](std::string_view words) {
    std::size_t found = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
    return found;
  };
  CHECK(count(R"("name":"kube-root-ca.crt.local")") == 4);
  CHECK(count(R"("name":"kube-root-ca.crt")") == 0);
  CHECK(count(R"("value":"kube-root-ca.crt")") == 1);
}

}  // namespace liqo::core
