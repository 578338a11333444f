// The status of a pod at home, made from what the provider reports.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/addresses/peer_addresses.hpp"
#include "core/offloading/resize.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// What the status of a pod at home depends on besides the objects.
struct StatusContext {
  std::string provider;                      ///< its cluster ID, for sentences
  std::string node_ip;                       ///< becomes hostIP, "" = left as it is
  const PeerAddresses* addresses = nullptr;  ///< null = not known yet: the addresses that are shown stay
  bool reflect_ips = true;                   ///< false: the pod shows no addresses
  /// The provider's warning about its Pod while that is not ready; "" = none; null = not known yet: the warning that is
  /// shown stays.
  const std::string* warning = nullptr;
  std::string ephemeral_refusal;   ///< why the provider refuses an ephemeral container; "" = it does not
  bool is_sent = false;            ///< the ShadowPod has all that the pod asks for and is not refused
  ResizeRefusal resize_refusal;    ///< of the amounts that the pod has at home
  std::string api_server_trouble;  ///< why the pod cannot reach its home's API server; "" = it can
};

/// What the local pod is to show. It lacks the fields of the status that the local control plane writes (qosClass,
/// nominatedNodeName, observedGeneration, ...).
struct WantedStatus {
  kube::json::object status;
  kube::json::object labels;       ///< to be added to the pod's, e.g. liqo.io/shadowPod
  kube::json::object annotations;  ///< to be added: the remote pod, and the offset of restart counts
  std::string left_out;            ///< an address that contradicts the declaration; "" = none
};

/// The objects from which the status of a pod at home is made.
struct StatusObjects {
  const kube::Object& local;
  const kube::Object* remote = nullptr;  ///< the Pod at the provider; null = there is none
  const kube::Object* shadow = nullptr;  ///< the ShadowPod; null = there is none
};

/// The status of the local pod; nullopt if nothing is known of the provider's side or the local phase is final already.
/// Without a Pod at the provider a finished ShadowPod finishes the local pod; an unfinished one makes it not ready,
/// with the reason why its provider does not run it. Never fails: malformed parts of the provider's report are left
/// out.
std::optional<WantedStatus> forge_local_status(StatusObjects of, const StatusContext& ctx, kube::WallTime now);

/// Why a pod is refused or has ended, as its status shows it.
struct Rejection {
  std::string_view phase, reason, message = {};
  bool never_ran = false;  ///< no container was ever started
};

/// The status of a pod that is refused or has ended, with phase and reason. True conditions become False, and
/// containers are not ready. For a final phase they are terminated: with exit code 0 (Succeeded), or with 137 (Failed),
/// as kubelets write for a container whose end they have not seen. Containers that have ended already keep their state,
/// and those of a pod that never ran stay as they are. A pod that is lost, was ended by the provider, or has Failed in
/// a way that nobody knows has the condition `DisruptionTarget`.
WantedStatus forge_rejection(const kube::Object& local, const Rejection& rejection, kube::WallTime now);

/// The most bytes of a refusal that are shown; it is stored on both sides.
inline constexpr std::size_t max_refusal = 1000;

/// The words of a refusal for users: what the provider says, without the request and the name of the webhook; if no
/// server answered, what went wrong.
std::string refusal_words(const kube::Failure& failure);

/// The sentence about a refusal of that provider, of bounded length.
std::string refusal_message(std::string_view provider, std::string_view words);

/// The sentence about a pod that this cluster does not send to that provider, of bounded length.
std::string unsent_message(std::string_view provider, std::string_view words);

/// The status with the condition `api::offloaded_condition` False, with that reason and message: what the provider says
/// about a pod that it does not run.
WantedStatus forge_refusal(const kube::Object& local, std::string_view reason, std::string_view message,
                           kube::WallTime now);

/// The refusal of the provider that a status shows; "" = none. It is of `forge_refusal`, or about a ShadowPod that the
/// provider took and cannot carry out.
std::string_view reported_refusal(const kube::json::object& status);

/// The warning of the provider (`StatusContext::warning`) that a status shows; "" = none.
std::string_view reported_warning(const kube::json::object& status);

/// The strategic merge patch (application/strategic-merge-patch+json) for `pods/<name>/status` that makes the local pod
/// show this, or nullopt if it does already. It holds only what differs and the pod's UID, so that a successor of the
/// same name is refused by the server (409 or 422). Labels and annotations are in the same patch, so that one write is
/// enough.
std::optional<kube::json::object> status_patch(const kube::Object& local, const WantedStatus& wanted);

/// Containers that have started by the status in `after` (and may have ended since), and had not by the status
/// `before`; a bounded number.
std::vector<std::string> started_containers(const kube::json::object& before, const kube::Object& after);

}  // namespace liqo::core
