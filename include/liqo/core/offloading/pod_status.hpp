// The status of a pod at home, made from what the provider reports.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"
#include "liqo/core/addresses/peer_addresses.hpp"
#include "liqo/core/offloading/resize.hpp"

namespace liqo::core {

struct StatusContext {
  std::string provider;                      ///< its cluster ID, for sentences
  std::string node_ip;                       ///< becomes hostIP, "" = left as it is
  const PeerAddresses* addresses = nullptr;  ///< null = not known yet: the addresses that are shown stay
  bool reflect_ips = true;                   ///< false: the pod shows no addresses
  /// What the provider warns of while its pod is not ready, "" = of nothing; null = not known yet: what is told stays.
  const std::string* warning = nullptr;
  std::string ephemeral_refusal;   ///< what it says against ephemeral containers that the ShadowPod lacks, "" = nothing
  bool is_sent = false;            ///< the ShadowPod has what the pod asks for, as far as it is not refused
  ResizeRefusal resize_refusal;    ///< of the amounts that the pod has at home
  std::string api_server_trouble;  ///< why the pod does not reach the API server of its home, "" = it does
};

/// What the local pod is to show. Fields of the status that belong to the local control plane (qosClass,
/// nominatedNodeName, observedGeneration, ...) are not in it.
struct WantedStatus {
  kube::json::object status;
  kube::json::object labels;       ///< to be added to the pod's, e.g. liqo.io/shadowPod
  kube::json::object annotations;  ///< to be added: which remote pod this is, and the offset of restart counts
  std::string left_out;            ///< an address that contradicts what is declared about the provider, "" = none
};

/// What the status of a pod at home is made of.
struct StatusSources {
  const kube::Object& local;
  const kube::Object* remote = nullptr;  ///< the Pod at the provider; null = there is none
  const kube::Object* shadow = nullptr;  ///< the ShadowPod; null = there is none
};

/// The status of the local pod, or nullopt where there is nothing to say (nothing known remotely, or the local phase
/// is final already). Where the Pod at the provider is gone a finished ShadowPod finishes the local pod, and an
/// unfinished one makes it not ready, and tells what its provider has against the pod. Never fails: what the provider
/// reports wrongly is left out.
std::optional<WantedStatus> forge_local_status(StatusSources of, const StatusContext& ctx, kube::WallTime now);

/// Why a pod is refused or over, as its status says it.
struct Rejection {
  std::string_view phase, reason, message = {};
};

/// Rewrites the status as that of a pod that is refused or over: phase and reason; true conditions become False;
/// containers are not ready and, for a final phase, terminated with exit code 1 (Failed) or 0 (Succeeded). Container
/// statuses that have ended keep how. A pod that is lost or was ended by the provider has the condition
/// `DisruptionTarget`.
WantedStatus forge_rejection(const kube::Object& local, const Rejection& rejection, kube::WallTime now);

/// How much of a refusal is told, in bytes: it is stored on both sides.
inline constexpr std::size_t longest_refusal = 1000;

/// What a user reads about a refusal: the provider's words alone, without the request that they answer and the name of
/// the webhook; where no server answered, what went wrong.
std::string refusal_words(const kube::Failure& failure);

/// The sentence about a refusal of that provider, of bounded length.
std::string refusal_message(std::string_view provider, std::string_view words);

/// The status with one more condition, for what the provider says about a pod that it does not run: type
/// `api::offloaded_condition`, status False, the reason and message given.
WantedStatus forge_refusal(const kube::Object& local, std::string_view reason, std::string_view message,
                           kube::WallTime now);

/// What the status says about a refusal of the provider (`forge_refusal`, or a ShadowPod that the provider took and
/// cannot carry out), "" = nothing.
std::string_view refusal_told(const kube::json::object& status);

/// What the status says about a warning of the provider (`StatusContext::warning`), "" = nothing.
std::string_view warning_told(const kube::json::object& status);

/// The strategic merge patch (application/strategic-merge-patch+json) for `pods/<name>/status` that makes the local
/// pod show this, or nullopt if it does already. It holds only what differs and the pod's UID, so that a successor of
/// the same name is refused by the server (409 or 422). Labels and annotations travel in it: one write does all.
std::optional<kube::json::object> status_patch(const kube::Object& local, const WantedStatus& wanted);

/// Containers of the pod that its status shows to have started, or to have done so and ended, and the status before
/// does not; a bounded number.
std::vector<std::string> started_containers(const kube::json::object& before, const kube::Object& after);

}  // namespace liqo::core
