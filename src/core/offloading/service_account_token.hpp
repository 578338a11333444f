// Service-account tokens of offloaded pods: which are needed, when they must be renewed, and the Secret that brings
// them to the provider. The caller requests the tokens.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/common/forging_context.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// One projected `serviceAccountToken` of a pod.
struct TokenRequest {
  std::string key;       ///< in the Secret
  std::string audience;  ///< "" = the API server's default
  std::chrono::seconds lifetime{3600};
};

/// One token as it was issued.
struct IssuedToken {
  std::string token;
  kube::WallTime expires;
};
using IssuedTokens = std::map<std::string, IssuedToken, std::less<>>;  ///< by key

/// The most tokens that one pod gets.
inline constexpr std::size_t max_tokens = 100;

/// The tokens that the pod's projected volumes ask for; empty = no Secret is needed.
std::vector<TokenRequest> collect_token_requests(const kube::Object& local_pod);

/// Whether the pod is to have such a Secret.
bool needs_tokens(const kube::Object& local_pod, const ForgingContext& ctx);

/// Keys of the Secret, one for each token.
using TokenKeys = std::set<std::string, std::less<>>;
/// The tokens of home that the pod of this ShadowPod mounts, as was decided when the ShadowPod was created.
TokenKeys mounted_tokens(const kube::Object& shadow);

/// The body of the POST to serviceaccounts/<sa>/token: bound to this pod, so that the token dies with it.
kube::json::object forge_token_request(const kube::Object& local_pod, const TokenRequest& request);

/// Reads token and expiry of the answer. Errors: Errc::parse.
kube::Result<IssuedToken> read_token_answer(const kube::Object& answer);

/// The sentence of the pod's Event about a token that the API server at home refused, with what to do; "" if the next
/// try may succeed.
std::string token_refusal(const kube::Object& local_pod, const kube::Failure& failure, const ClusterPair& clusters);

/// When a token must be renewed: when a fifth of the requested lifetime is left.
kube::WallTime renewal_time(const TokenRequest& request, const IssuedToken& token);
/// When the first of the pod's tokens must be renewed, or would have to be if it might have it still; WallTime::max()
/// if it has none.
kube::WallTime next_renewal(const kube::Object& local_pod, const IssuedTokens& issued, const ForgingContext& ctx,
                            kube::WallTime now);

/// Reads the tokens from a Secret after a restart; all have the one expiry of the Secret. Empty if somebody has changed
/// the Secret since it was written.
IssuedTokens read_token_secret(const kube::Object& secret);

/// True if the Secret is a token Secret of reflection for this pair of clusters.
bool is_token_secret(const kube::Object& secret, const ClusterPair& clusters);

namespace token_action {
/// The pod needs no Secret, and has none that is to go.
struct Nothing {};
/// Somebody else's Secret has the name: only a Warning is due.
struct RefuseForeign {};
/// DELETE the Secret: its pod needs none, is gone, or is another one of that name.
struct Remove {
  std::string uid;
};
/// Write the Secret with all tokens of the pod.
struct Write {
  std::vector<TokenRequest> to_request;  ///< ask for these first
  std::string replaced;                  ///< the UID of a Secret that cannot be changed: DELETE it first; "" = none
};
/// The Secret has what the pod needs until then (add jitter of up to 30 s).
struct Keep {
  kube::WallTime until;
};
}  // namespace token_action

/// What is to be done about the Secret of one pod.
using TokenPlan = std::variant<token_action::Nothing, token_action::RefuseForeign, token_action::Remove,
                               token_action::Write, token_action::Keep>;

/// The tokens of one pod, as both sides have them.
struct ObservedTokens {
  const kube::Object* local_pod = nullptr;  ///< null = gone: the Secret is deleted
  const kube::Object* secret = nullptr;     ///< what has the Secret's name at the provider
  const IssuedTokens& issued;               ///< known so far
  TokenKeys mounted = {};                   ///< those that the ShadowPod mounts; empty = none, or there is no ShadowPod
};

/// The plan for the Secret of one pod. Tokens that a ShadowPod mounts are requested only while the pod may have them
/// (gets_token()), because the provider can change the ShadowPod. Those that it may not have any more stay in the
/// Secret until they expire and after that, unless the pod's annotation says `disabled`: a pod that is created again
/// would not start without its Secret.
TokenPlan plan_tokens(const ObservedTokens& observed, const ForgingContext& ctx, kube::WallTime now);

/// Whether the pod, which exists, mounts a token that is due and is not renewed because it may not have it any more.
/// Not if its annotation says `disabled`: that takes the token away.
bool has_unrenewed_token(const ObservedTokens& observed, const ForgingContext& ctx, kube::WallTime now);

/// The Secret for server-side apply (manager reflection.liqo.io, force).
kube::Object forge_token_secret(const kube::Object& local_pod, std::string_view remote_namespace,
                                const IssuedTokens& issued, const ForgingContext& ctx);

/// The pod's service account: `spec.serviceAccountName`, "default" if empty.
std::string service_account_of(const kube::Object& local_pod);

}  // namespace liqo::core
