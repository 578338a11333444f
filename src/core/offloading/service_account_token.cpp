#include "core/offloading/service_account_token.hpp"

#include <algorithm>
#include <iterator>

#include "core/common/digest.hpp"
#include "core/common/meta.hpp"
#include "core/common/names.hpp"
#include "core/common/peer_names.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/offloading/token_audiences.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

namespace labels = api::labels;
namespace annotations = api::annotations;

constexpr std::chrono::seconds default_lifetime{3600};

bool belongs_to(const kube::Object& secret, const kube::Object& local_pod) {
  return secret.annotation(annotations::token_pod_uid) == local_pod.uid();
}

std::string digest_of(std::string_view expiration, const std::map<std::string, std::string>& tokens) {
  std::string text(expiration);
  for (const auto& [key, token] : tokens) text += "\n" + key + "=" + token;
  return digest_hex(text);
}

/// Whether a Secret lacks part of the wanted one, which has its data as stringData.
bool is_damaged(const kube::Object& secret, const kube::Object& wanted) {
  json::object data;
  for (const auto& [key, token] : kube::object_at(wanted.tree(), {"stringData"}))
    data[key] = kube::encode_base64(std::string_view(token.get_string()));
  return !covers(secret.labels(), wanted.labels()) || !covers(secret.annotations(), wanted.annotations()) ||
         !covers(kube::object_at(secret.tree(), {"data"}), data);
}

}  // namespace

std::string service_account_of(const kube::Object& local_pod) {
  const std::string_view name = kube::string_at(local_pod.spec(), {"serviceAccountName"});
  return name.empty() ? "default" : std::string(name);
}

std::vector<TokenRequest> collect_token_requests(const kube::Object& local_pod) {
  std::vector<TokenRequest> requests;
  for (const json::value& volume : kube::array_at(local_pod.spec(), {"volumes"})) {
    const json::value* projected = kube::find(volume, {"projected"});
    if (!projected) continue;
    for (const json::value& source : kube::array_at(*projected, {"sources"})) {
      const json::value* token = kube::find(source, {"serviceAccountToken"});
      if (!token || !token->is_object()) continue;
      const std::int64_t seconds = kube::int_at(*token, {"expirationSeconds"}, default_lifetime.count());
      requests.push_back({.key = token_key(kube::string_at(volume, {"name"}), kube::string_at(*token, {"path"})),
                          .audience = std::string(kube::string_at(*token, {"audience"})),
                          .lifetime = std::chrono::seconds(std::clamp<std::int64_t>(seconds, 600, 1LL << 32))});
    }
  }
  return requests;
}

bool needs_tokens(const kube::Object& local_pod, const ForgingContext& ctx) {
  return std::ranges::any_of(collect_token_requests(local_pod),
                             [&](const TokenRequest& request) { return gets_token(local_pod, request.audience, ctx); });
}

TokenKeys mounted_tokens(const kube::Object& shadow) {
  const std::string secret = token_secret_name(shadow.name());
  TokenKeys keys;
  for (const json::value& volume : kube::array_at(shadow.spec(), {"pod", "volumes"}))
    for (const json::value& source : kube::array_at(volume, {"projected", "sources"})) {
      if (kube::string_at(source, {"secret", "name"}) != secret) continue;
      for (const json::value& item : kube::array_at(source, {"secret", "items"}))
        keys.emplace(kube::string_at(item, {"key"}));
    }
  return keys;
}

json::object forge_token_request(const kube::Object& local_pod, const TokenRequest& request) {
  json::object spec{{"expirationSeconds", request.lifetime.count()},
                    {"boundObjectRef", json::object{{"apiVersion", kube::resources::pods.api_version()},
                                                    {"kind", kube::resources::pods.kind},
                                                    {"name", local_pod.name()},
                                                    {"uid", local_pod.uid()}}}};
  // The field is required, and an empty list asks for the API server's own audience.
  spec["audiences"] = request.audience.empty() ? json::array() : json::array{json::value(request.audience)};
  return {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", std::move(spec)}};
}

std::string token_refusal(const kube::Object& local_pod, const kube::Failure& failure, const ClusterPair& clusters) {
  const kube::Status* status = failure.status();
  if (!status || !failure.is_permanent()) return {};
  const std::string account = "service account " + service_account_of(local_pod);
  const std::string server = "the API server of cluster " + clusters.local;
  if (status->code == 404 && status->message.starts_with("pods \"")) return {};  // the pod has just gone
  if (status->code == 404 && status->message.starts_with("serviceaccounts \""))
    return "there is no " + account + ": create it, so that the pod can get its token for " + server;
  if (status->code == 404 || status->code == 405)
    return "there is no token for " + account + ": " + server +
           " has no TokenRequest API, which Kubernetes has since 1.20: start liqod with "
           "--apiserver-support=never and --audience-tokens=never, or annotate the pod with "
           "liqo.io/api-server-support=disabled";
  const std::string why = "there is no token for " + account + " from " + server + ": " + refusal_words(failure);
  if (!failure.is_forbidden()) return why;
  return why + "; liqod gets the right by RoleBinding " + std::string(own_token_role) + " of namespace " +
         std::string(local_pod.ns()) +
         ", which it makes if the chart has apiServer.support or apiServer.audienceTokens other than never";
}

kube::Result<IssuedToken> read_token_answer(const kube::Object& answer) {
  const std::string_view token = kube::string_at(answer.status(), {"token"});
  if (token.empty()) return kube::fail(kube::Errc::parse, "the answer to a token request has no token");
  KUBE_TRY(expires, kube::parse_time(kube::string_at(answer.status(), {"expirationTimestamp"})),
           "reading the expiry of a token");
  return IssuedToken{.token = std::string(token), .expires = expires};
}

kube::WallTime renewal_time(const TokenRequest& request, const IssuedToken& token) {
  return token.expires - request.lifetime / 5;
}

kube::WallTime next_renewal(const kube::Object& local_pod, const IssuedTokens& issued, const ForgingContext& ctx,
                            kube::WallTime now) {
  auto first = kube::WallTime::max();
  for (const TokenRequest& request : collect_token_requests(local_pod)) {
    const auto found = issued.find(request.key);
    if (found == issued.end()) continue;
    const kube::WallTime due = renewal_time(request, found->second);
    if (due > now || gets_token(local_pod, request.audience, ctx)) first = std::min(first, due);
  }
  return first;
}

bool has_unrenewed_token(const ObservedTokens& observed, const ForgingContext& ctx, kube::WallTime now) {
  const kube::Object& local_pod = *observed.local_pod;
  if (local_pod.annotation(annotations::api_server_support) == "disabled") return false;
  return std::ranges::any_of(collect_token_requests(local_pod), [&](const TokenRequest& request) {
    const auto found = observed.issued.find(request.key);
    return observed.mounted.contains(request.key) && found != observed.issued.end() &&
           renewal_time(request, found->second) <= now && !gets_token(local_pod, request.audience, ctx);
  });
}

IssuedTokens read_token_secret(const kube::Object& secret) {
  IssuedTokens tokens;
  const auto expires = kube::parse_time(secret.annotation(annotations::token_expiration));
  if (!expires) return tokens;
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : kube::object_at(secret.tree(), {"data"})) {
    if (!value.is_string() || tokens.size() >= max_tokens) continue;
    auto token = kube::decode_base64(value.get_string());
    if (!token || token->empty()) continue;
    texts.emplace(std::string(key), *token);
    tokens.emplace(std::string(key), IssuedToken{.token = std::move(*token), .expires = *expires});
  }
  // The Go version and earlier ones of this program wrote no digest.
  const std::string_view noted = secret.annotation(annotations::tokens_digest);
  if (!noted.empty() && noted != digest_of(secret.annotation(annotations::token_expiration), texts)) return {};
  return tokens;
}

bool is_token_secret(const kube::Object& secret, const ClusterPair& clusters) {
  return is_reflected(secret, clusters) && secret.has_label(labels::service_account_name) &&
         secret.has_annotation(annotations::token_pod_name);
}

TokenPlan plan_tokens(const ObservedTokens& observed, const ForgingContext& ctx, kube::WallTime now) {
  const auto& [local_pod, secret, issued, mounted] = observed;
  // A Secret whose label somebody has removed is still known by the pod.
  const bool ours = secret && (is_token_secret(*secret, ctx.clusters) ||
                               (local_pod && is_reflected(*secret, ctx.clusters) && belongs_to(*secret, *local_pod)));
  const bool is_vetoed = local_pod && local_pod->annotation(annotations::api_server_support) == "disabled";
  auto requests = local_pod && !is_vetoed ? collect_token_requests(*local_pod) : std::vector<TokenRequest>();
  const auto may_have = [&](const TokenRequest& request) { return gets_token(*local_pod, request.audience, ctx); };
  // The ShadowPod is in the hands of the provider: that it mounts a token is no reason to make one.
  std::erase_if(requests, [&](const TokenRequest& request) {
    return (!mounted.empty() && !mounted.contains(request.key)) ||
           (!may_have(request) && (mounted.empty() || !issued.contains(request.key)));
  });
  if (requests.empty()) {
    // Secrets of another virtual node are left to it. A pod that lives may still be using its own.
    const bool may_be_used = ours && local_pod && !is_vetoed && belongs_to(*secret, *local_pod);
    if (ours && !may_be_used && secret->label(labels::node_name) == ctx.node_name && !secret->is_deleting())
      return token_action::Remove{.uid = std::string(secret->uid())};
    return token_action::Nothing();
  }
  if (secret && !ours) return token_action::RefuseForeign();
  if (secret && !belongs_to(*secret, *local_pod)) return token_action::Remove{.uid = std::string(secret->uid())};
  token_action::Write plan;
  std::ranges::copy_if(requests, std::back_inserter(plan.to_request), [&](const TokenRequest& request) {
    const auto found = issued.find(request.key);
    return may_have(request) && (found == issued.end() || renewal_time(request, found->second) <= now);
  });
  // An immutable Secret can be neither renewed nor repaired in place.
  if (secret && kube::bool_at(secret->tree(), {"immutable"})) plan.replaced = secret->uid();
  const bool is_good =
      secret && plan.to_request.empty() &&
      (secret->is_deleting() ||
       (plan.replaced.empty() && !is_damaged(*secret, forge_token_secret(*local_pod, secret->ns(), issued, ctx))));
  if (is_good) return token_action::Keep{.until = next_renewal(*local_pod, issued, ctx, now)};
  return plan;
}

kube::Object forge_token_secret(const kube::Object& local_pod, std::string_view remote_namespace,
                                const IssuedTokens& issued, const ForgingContext& ctx) {
  kube::Object secret = kube::Object::make(kube::resources::secrets,
                                           {std::string(remote_namespace), token_secret_name(local_pod.name())});
  secret.set_label(labels::reflection_origin, ctx.clusters.local);
  secret.set_label(labels::reflection_destination, ctx.clusters.remote);
  secret.set_label(labels::node_name, ctx.node_name);
  // A label takes 63 characters, and names of service accounts have up to 253.
  const std::string account = service_account_of(local_pod);
  secret.set_label(labels::service_account_name, is_label_value(account) ? account : digest_hex(account));
  secret.set_annotation(annotations::token_pod_name, local_pod.name());
  secret.set_annotation(annotations::token_pod_uid, local_pod.uid());
  json::object data;
  std::map<std::string, std::string> texts;
  std::optional<kube::WallTime> earliest;
  for (const TokenRequest& request : collect_token_requests(local_pod)) {
    const auto found = issued.find(request.key);
    if (found == issued.end()) continue;
    data[request.key] = found->second.token;
    texts[request.key] = found->second.token;
    if (!earliest || found->second.expires < *earliest) earliest = found->second.expires;
  }
  if (earliest) {
    secret.set_annotation(annotations::token_expiration, kube::format_time(*earliest));
    secret.set_annotation(annotations::tokens_digest,
                          digest_of(secret.annotation(annotations::token_expiration), texts));
  }
  secret.tree()["immutable"] = false;
  secret.tree()["type"] = "Opaque";
  secret.tree()["stringData"] = std::move(data);
  return secret;
}

}  // namespace liqo::core
