// The status of a pod at home, made from what the provider reports.
#pragma once

#include <optional>
#include <string>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"
#include "liqo/core/mapping/ip.hpp"

namespace liqo::core {

struct StatusContext {
  std::string node_ip;             ///< becomes hostIP, "" = left as it is
  const IpMapping* ips = nullptr;  ///< null = addresses are not remapped
  bool reflect_ips = true;         ///< false: the pod shows no addresses
};

/// What the local pod is to show. Fields of the status that belong to the local control plane (qosClass,
/// nominatedNodeName, observedGeneration, ...) are not in it.
struct WantedStatus {
  kube::json::object status;
  kube::json::object labels;       ///< to be added to the pod's, e.g. liqo.io/shadowPod
  kube::json::object annotations;  ///< to be added: which remote pod this is, and the offset of restart counts
};

/// The status of the local pod, or nullopt where there is nothing to say (nothing known remotely, or the local phase
/// is final already). `remote` may be null: then a finished ShadowPod finishes the local pod, and an unfinished one
/// makes it not ready. Never fails: what the provider reports wrongly is left out.
std::optional<WantedStatus> forge_local_status(const kube::Object& local, const kube::Object* remote,
                                               const kube::Object* shadow, const StatusContext& ctx,
                                               kube::WallTime now);

/// Rewrites the status as that of a pod that is refused or over: phase and reason; true conditions become False;
/// containers are not ready and, for a final phase, terminated with exit code 1 (Failed) or 0 (Succeeded). Container
/// statuses that have ended keep how.
WantedStatus forge_rejection(const kube::Object& local, std::string_view phase, std::string_view reason,
                             std::string_view message, kube::WallTime now);

/// What a user reads about a refusal: the provider's words alone, without the request that they answer and the name of
/// the webhook; where no server answered, what went wrong.
std::string refusal_words(const kube::Failure& failure);

/// The status with one more condition, for what the provider says about a pod that it does not run: type
/// `api::offloaded_condition`, status False, the reason and message given.
WantedStatus forge_refusal(const kube::Object& local, std::string_view reason, std::string_view message,
                           kube::WallTime now);

/// The strategic merge patch (application/strategic-merge-patch+json) for `pods/<name>/status` that makes the local
/// pod show this, or nullopt if it does already. It holds only what differs and the pod's UID, so that a successor of
/// the same name is refused by the server (409 or 422). Labels and annotations travel in it: one write does all.
std::optional<kube::json::object> status_patch(const kube::Object& local, const WantedStatus& wanted);

}  // namespace liqo::core
