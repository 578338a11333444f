// Service-account tokens: which are asked for, when, and how they travel.
#include "core/offloading/service_account_token.hpp"

#include "../objects.hpp"
#include "core/common/digest.hpp"
#include "kube/base/base64.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;

ForgingContext token_context() {
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::always;
  return ctx;
}

kube::Object pod_with_tokens() {
  return local_pod("{}", R"({"serviceAccountName": "sa1", "volumes": [
    {"name": "kube-api-access-abcde", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
    {"name": "vault", "projected": {"sources": [{"serviceAccountToken": {"path": "jwt", "audience": "vault", "expirationSeconds": 5000}}]}},
    {"name": "map", "projected": {"sources": [{"configMap": {"name": "m"}}]}}, null, {"projected": {"sources": [{"serviceAccountToken": 3}]}}]})");
}

kube::Object secret_of(const kube::Object& pod, const IssuedTokens& issued) {
  kube::Object secret = forge_token_secret(pod, "shop-rome", issued, token_context());
  secret.mutable_metadata()["uid"] = "t1";
  // As the server keeps it.
  kube::json::object data;
  for (const auto& [key, text] : kube::object_at(secret.tree(), {"stringData"}))
    data[key] = kube::encode_base64(std::string_view(text.get_string()));
  secret.tree().erase("stringData");
  secret.tree()["data"] = std::move(data);
  return secret;
}

constexpr std::string_view tokens_digest = "offloading.liqo.io/service-account-tokens-digest";

IssuedTokens both(kube::WallTime expires) {
  IssuedTokens tokens;
  for (const TokenRequest& request : collect_token_requests(pod_with_tokens())) tokens[request.key] = {"JWT", expires};
  return tokens;
}

/// The keys of both.
TokenKeys keys() {
  TokenKeys found;
  for (const TokenRequest& request : collect_token_requests(pod_with_tokens())) found.insert(request.key);
  return found;
}

token_action::Write writing(TokenPlan plan) { return std::get<token_action::Write>(std::move(plan)); }
bool is_keeping(const TokenPlan& plan) { return std::holds_alternative<token_action::Keep>(plan); }
/// The UID of the Secret that a plan removes for good, "" if it removes none.
std::string removed(const TokenPlan& plan) {
  const auto* removal = std::get_if<token_action::Remove>(&plan);
  return removal ? removal->uid : "";
}

}  // namespace

TEST_CASE("every projected token of a pod is asked for, bound to the pod") {
  const auto requests = collect_token_requests(pod_with_tokens());
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].key == "kube-api-access-abcde-3c469e");
  CHECK(requests[0].audience == "");
  CHECK(requests[0].lifetime == 3600s);
  CHECK(requests[1].audience == "vault");
  CHECK(requests[1].lifetime == 5000s);
  CHECK(forge_token_request(pod_with_tokens(), requests[1]) == parse_value(R"({"apiVersion": "authentication.k8s.io/v1",
    "kind": "TokenRequest", "spec": {"audiences": ["vault"], "expirationSeconds": 5000,
    "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "u1"}}})")
                                                                   .get_object());
  CHECK(json::serialize(*kube::find(forge_token_request(pod_with_tokens(), requests[0]), {"spec", "audiences"})) ==
        "[]");
}

TEST_CASE("a token that is refused for good is told with what to do") {
  const std::pair<kube::Status, std::string> cases[] = {
      {{.code = 404, .reason = "NotFound", .message = "404 page not found"},
       "there is no token for service account sa1: the API server of cluster local-cluster has no TokenRequest API, "
       "which "
       "Kubernetes has "
       "since 1.20: start liqod with --apiserver-support=never and --audience-tokens=never, or annotate the pod with "
       "liqo.io/api-server-support=disabled"},
      {{.code = 404, .reason = "NotFound", .message = "serviceaccounts \"sa1\" not found"},
       "there is no service account sa1: create it, so that the pod can get its token for the API server of cluster "
       "local-cluster"},
      {{.code = 404, .reason = "NotFound", .message = "pods \"web\" not found"}, ""},
      {{.code = 403, .reason = "Forbidden", .message = "liqod may not"},
       "there is no token for service account sa1 from the API server of cluster local-cluster: liqod may not; liqod "
       "gets the right by RoleBinding liqo-liqod-tokens of namespace shop, which it makes if the chart has "
       "apiServer.support or apiServer.audienceTokens other than never"},
      {{.code = 409, .reason = "Conflict", .message = "the pod is another one"}, ""},
      {{.code = 503, .reason = "ServiceUnavailable", .message = "later"}, ""},
  };
  for (const auto& [status, words] : cases) {
    CAPTURE(status.message);
    CHECK(token_refusal(pod_with_tokens(), kube::Failure::from_status(status), token_context().clusters) == words);
  }
  CHECK(token_refusal(pod_with_tokens(), kube::Failure(kube::Errc::timeout, "late"), token_context().clusters).empty());
}

TEST_CASE("the answer is read, or told to be none") {
  const auto read = read_token_answer(parse(
      R"({"metadata": {"name": "sa1"}, "status": {"token": "JWT", "expirationTimestamp": "2026-11-21T11:00:00Z"}})"));
  REQUIRE(read.has_value());
  CHECK(read->token == "JWT");
  CHECK(read->expires == at(1h));
  CHECK_FALSE(read_token_answer(parse(R"({"metadata": {"name": "sa1"}, "status": {"token": ""}})")).has_value());
  CHECK_FALSE(read_token_answer(
                  parse(R"({"metadata": {"name": "sa1"}, "status": {"token": "x", "expirationTimestamp": "soon"}})"))
                  .has_value());
}

TEST_CASE("the Secret is as the wire has it") {
  kube::Object pod = local_pod("{}", R"({"serviceAccountName": "sa1", "volumes": [
    {"name": "kube-api-access-abcde", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]})");
  kube::Object secret = forge_token_secret(
      pod, "rns", {{"kube-api-access-abcde-3c469e", {"JWT", at(2h)}}, {"other", {"X", at()}}}, token_context());
  CHECK(secret.annotation(tokens_digest) == digest_hex("2026-11-21T12:00:00Z\nkube-api-access-abcde-3c469e=JWT"));
  secret.mutable_metadata()["annotations"].as_object().erase(tokens_digest);
  CHECK(secret.tree() ==
        parse_value(R"({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "web-token", "namespace": "rns",
    "labels": {"offloading.liqo.io/destination": "remote-cluster", "offloading.liqo.io/nodename": "milan",
      "offloading.liqo.io/origin": "local-cluster", "offloading.liqo.io/service-account-name": "sa1"},
    "annotations": {"offloading.liqo.io/service-account-expiration": "2026-11-21T12:00:00Z",
      "offloading.liqo.io/service-account-for-pod-name": "web", "offloading.liqo.io/service-account-for-pod-uid": "u1"}},
    "immutable": false, "stringData": {"kube-api-access-abcde-3c469e": "JWT"}, "type": "Opaque"})")
            .get_object());
}

TEST_CASE("tokens are asked for when they are missing or old") {
  const kube::Object pod = pod_with_tokens();
  const auto ctx = token_context();
  CHECK(writing(plan_tokens({.local_pod = &pod, .issued = {}}, ctx, at())).to_request.size() == 2);

  const auto issued = both(at(5000s));
  const kube::Object secret = secret_of(pod, issued);
  const TokenPlan rest = plan_tokens({.local_pod = &pod, .secret = &secret, .issued = issued}, ctx, at());
  REQUIRE(is_keeping(rest));
  CHECK(std::get<token_action::Keep>(rest).until == at(4000s));

  IssuedTokens half = issued;
  half.erase(half.begin());
  CHECK(writing(plan_tokens({.local_pod = &pod, .secret = &secret, .issued = half}, ctx, at())).to_request.size() == 1);
  CHECK(writing(plan_tokens({.local_pod = &pod, .secret = &secret, .issued = both(at(-1min))}, ctx, at()))
            .to_request.size() == 2);
  // The cached tokens are enough to make a deleted Secret again.
  CHECK(writing(plan_tokens({.local_pod = &pod, .issued = issued}, ctx, at())).to_request.empty());
}

TEST_CASE("a Secret that somebody has changed is written again") {
  const kube::Object pod = pod_with_tokens();
  const auto issued = both(at(5000s));
  const kube::Object whole = secret_of(pod, issued);
  const auto plan = [&](const kube::Object& secret) {
    return plan_tokens({.local_pod = &pod, .secret = &secret, .issued = issued}, token_context(), at());
  };
  CHECK(is_keeping(plan(whole)));
  kube::Object damaged = whole;
  SUBCASE("its tokens") { damaged.tree()["data"] = kube::json::object{{"theirs", "eA=="}}; }
  SUBCASE("the label by which it is known") {
    damaged.mutable_metadata()["labels"].as_object().erase("offloading.liqo.io/service-account-name");
  }
  SUBCASE("when it expires") { damaged.set_annotation("offloading.liqo.io/service-account-expiration", "later"); }
  CHECK(writing(plan(damaged)).to_request.empty());
  CHECK(writing(plan(damaged)).replaced == "");
  damaged.tree()["immutable"] = true;
  CHECK(writing(plan(damaged)).replaced == "t1");
  damaged.mutable_metadata()["deletionTimestamp"] = "2026-11-21T10:00:00Z";
  CHECK(is_keeping(plan(damaged)));
  // What was only added is none of it.
  kube::Object added = whole;
  added.tree()["data"].as_object()["theirs"] = "eA==";
  CHECK(is_keeping(plan(added)));
}

TEST_CASE("a Secret that cannot be changed is replaced, also where its tokens must be renewed") {
  const kube::Object pod = pod_with_tokens();
  for (const IssuedTokens& issued : {both(at(5000s)), both(at(-1min))}) {
    kube::Object fixed = secret_of(pod, issued);
    fixed.tree()["immutable"] = true;
    CHECK(
        writing(plan_tokens({.local_pod = &pod, .secret = &fixed, .issued = issued}, token_context(), at())).replaced ==
        "t1");
  }
}

TEST_CASE("each token is renewed when a fifth of its life is left") {
  const std::vector<TokenRequest> requests = {{"a", "", 3600s}, {"b", "", 5000s}, {"c", "", 1800s}};
  CHECK(renewal_time(requests[0], {"x", at(3600s)}) == at(2880s));
  CHECK(renewal_time(requests[1], {"x", at(1600s)}) == at(600s));
  CHECK(renewal_time(requests[2], {"x", at(1800s)}) == at(1440s));
}

TEST_CASE("a Secret of another pod goes, one of somebody else stays") {
  const kube::Object pod = pod_with_tokens();
  const auto ctx = token_context();
  kube::Object secret = secret_of(pod, both(at(1h)));
  CHECK(removed(plan_tokens({.local_pod = nullptr, .secret = &secret, .issued = {}}, ctx, at())) == "t1");
  secret.set_annotation("offloading.liqo.io/service-account-for-pod-uid", "u0");
  CHECK(removed(plan_tokens({.local_pod = &pod, .secret = &secret, .issued = {}}, ctx, at())) == "t1");
  secret.mutable_metadata()["labels"].as_object().erase("offloading.liqo.io/origin");
  CHECK(std::holds_alternative<token_action::RefuseForeign>(
      plan_tokens({.local_pod = &pod, .secret = &secret, .issued = {}}, ctx, at())));
  CHECK(removed(plan_tokens({.local_pod = nullptr, .secret = &secret, .issued = {}}, ctx, at())) == "");
}

TEST_CASE("nothing is asked for where the API server is not reached with tokens") {
  const kube::Object pod = pod_with_tokens();
  CHECK(std::holds_alternative<token_action::Nothing>(plan_tokens({.local_pod = &pod, .issued = {}}, context(), at())));
  const kube::Object plain = local_pod();
  CHECK(std::holds_alternative<token_action::Nothing>(
      plan_tokens({.local_pod = &plain, .issued = {}}, token_context(), at())));
}

TEST_CASE(
    "what is mounted is renewed while the pod may have it, and stays until the pod goes or says that it shall not") {
  kube::Object pod = pod_with_tokens();
  const kube::Object secret = secret_of(pod, both(at(1h)));
  for (const ApiServerMode mode : {ApiServerMode::never, ApiServerMode::needed}) {
    ForgingContext ctx = context();
    ctx.api_server_mode = mode;
    const auto old = both(at(-1min));
    const kube::Object expired = secret_of(pod, old);
    const ObservedTokens due{.local_pod = &pod, .secret = &expired, .issued = old, .mounted = keys()};
    // Nothing is requested because the ShadowPod, which the provider can change, mounts it.
    CHECK(std::holds_alternative<token_action::Nothing>(
        plan_tokens({.local_pod = &pod, .issued = {}, .mounted = keys()}, ctx, at())));
    const TokenPlan rest = plan_tokens(due, ctx, at());
    REQUIRE(is_keeping(rest));
    CHECK(std::get<token_action::Keep>(rest).until == kube::WallTime::max());
    CHECK(has_unrenewed_token(due, ctx, at()));
    // What it has comes back if somebody deletes the Secret.
    CHECK(writing(plan_tokens({.local_pod = &pod, .issued = old, .mounted = keys()}, ctx, at())).to_request.empty());
    // It is looked at again when the token is due, so that this is reported.
    const auto young = both(at(5000s));
    const kube::Object good = secret_of(pod, young);
    const ObservedTokens later{.local_pod = &pod, .secret = &good, .issued = young, .mounted = keys()};
    CHECK_FALSE(has_unrenewed_token(later, ctx, at()));
    CHECK(std::get<token_action::Keep>(plan_tokens(later, ctx, at())).until == at(4000s));
    // A pod whose ShadowPod is gone may run still.
    CHECK(removed(plan_tokens({.local_pod = &pod, .secret = &secret, .issued = {}}, ctx, at())) == "");
    CHECK(removed(plan_tokens({.local_pod = nullptr, .secret = &secret, .issued = {}}, ctx, at())) == "t1");
    kube::Object other = pod_with_tokens();
    other.mutable_metadata()["uid"] = "u2";
    CHECK(removed(plan_tokens({.local_pod = &other, .secret = &secret, .issued = {}}, ctx, at())) == "t1");

    // The pod may have it: its account is one of its own, and the address is known.
    ctx.api_server_mode = ApiServerMode::needed;
    ctx.api_server_host = "10.0.0.1";
    const auto plan = writing(plan_tokens(due, ctx, at()));
    CHECK(plan.to_request.size() == 2);
    CHECK(plan.replaced == "");
    CHECK_FALSE(has_unrenewed_token(due, ctx, at()));
    CHECK(std::holds_alternative<token_action::Nothing>(
        plan_tokens({.local_pod = &pod, .issued = {}, .mounted = {"another"}}, ctx, at())));
    CHECK(writing(plan_tokens({.local_pod = &pod, .issued = {}, .mounted = {*keys().begin()}}, ctx, at()))
              .to_request.size() == 1);
  }
  pod.set_annotation("liqo.io/api-server-support", "disabled");
  CHECK(removed(plan_tokens({.local_pod = &pod, .secret = &secret, .issued = {}, .mounted = keys()}, token_context(),
                            at())) == "t1");
}

TEST_CASE("after a restart the tokens come back from the Secret") {
  kube::Object secret = secret_of(pod_with_tokens(), both(at(1h)));
  CHECK(read_token_secret(secret).size() == 2);
  secret.tree()["data"] = parse_value(R"({"a": "SldU", "b": "***", "c": 5, "d": ""})");
  // Somebody has changed it since.
  CHECK(read_token_secret(secret).empty());
  secret.mutable_metadata()["annotations"].as_object().erase(tokens_digest);
  const auto tokens = read_token_secret(secret);
  REQUIRE(tokens.size() == 1);
  CHECK(tokens.at("a").token == "JWT");
  CHECK(tokens.at("a").expires == at(1h));
  secret.set_annotation("offloading.liqo.io/service-account-expiration", "soon");
  CHECK(read_token_secret(secret).empty());
}

}  // namespace liqo::core
