// Which projected service-account tokens of a pod come from home: those for its API server, and those that name an
// audience of their own (Vault, a cloud). Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The most bytes that the audiences of one pod's tokens may have together: the tokens hold them, and all of them have
/// to fit into one Secret.
inline constexpr std::size_t max_audience_bytes = 64 << 10;

/// Whether a token with this audience (`""` = none is named) is for somebody other than home's API server, and
/// therefore comes from home whatever `api_server_mode` says. An audience counts as the API server's until those of the
/// API server are known.
bool is_asked_by_name(std::string_view audience, const ForgingContext& ctx);
/// The same, but an audience does not count as the API server's before those of the API server are known.
bool is_other_audience(std::string_view audience, const ForgingContext& ctx);

/// Whether the pod gets a token with this audience from home. None if its annotation asks for `disabled` or `remote`.
bool gets_token(const kube::Object& local_pod, std::string_view audience, const ForgingContext& ctx);

/// Whether the pod mounts a token for home's API server that is brought to it; `mounted`: mounted_tokens() of its
/// ShadowPod.
bool mounts_home_token(const kube::Object& local_pod, const std::set<std::string, std::less<>>& mounted,
                       const ForgingContext& ctx);

/// Whether it depends on the audiences of home's API server which tokens the pod gets.
bool depends_on_audiences(const kube::Object& local_pod, const ForgingContext& ctx);

/// Why the pod asks for more tokens than are brought to it, a clause; "" = it does not.
std::string excess_of_tokens(const kube::Object& local_pod, const ForgingContext& ctx);

/// The tokens with an audience of their own that the pod does not get, for its Event: "serviceAccountToken (audience
/// vault)"; "" = there are none.
std::string unsent_tokens(const kube::Object& local_pod, const ForgingContext& ctx);

/// The audiences of the API server that gave this answer to a request for a token without audiences: those in the
/// token, or else those in the answer. Empty = it tells none.
Audiences read_audiences(const kube::Object& answer);

}  // namespace liqo::core
