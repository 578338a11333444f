// The provider's half: what is to be done about one ShadowPod and its pod. Pure.
#pragma once

#include <optional>
#include <string>

#include "kube/k8s/object.hpp"
#include "liqo/core/mapping/ip.hpp"

namespace liqo::core {

/// What the process saw of the pods of one ShadowPod (keyed by its UID). Losing it is harmless: the durable record is
/// `status.phase`.
struct ShadowMemory {
  bool pod_created = false;  ///< we created the pod and the cache has not shown it yet
  /// A POST of the pod got no answer in its time, less than `create_doubt` ago: it may still be carried out, also after
  /// a second one was, and the pod of that has ended and gone.
  bool create_in_doubt = false;
  bool create_tried = false;  ///< a POST of the pod ended without an answer: what we know of the ShadowPod may be old
  bool pod_seen = false;      ///< its pod was in the cache
  bool pod_started = false;   ///< a container of its pod was seen to run or end (`has_started`)
};

/// At most one of `create`, `patch` and `remove_pod`; each part may be absent.
struct ShadowPlan {
  std::optional<kube::Object> create;  ///< POST this Pod
  /// It may not be the first pod. When a ShadowPod is deleted, the news that its pod is gone may come first: read the
  /// ShadowPod live, and create only if it has the same UID and is not being deleted.
  bool confirm_first = false;
  std::optional<kube::json::object> patch;   ///< strategic merge patch for the Pod, with its UID
  std::optional<kube::json::object> status;  ///< merge patch for shadowpods/<name>/status, with its UID
  bool remove_pod = false;    ///< DELETE the Pod by its UID: somebody holds the ShadowPod, which is to go
  std::string refusal;        ///< why nothing can be done, for a Warning Event; "" = none
  bool await_create = false;  ///< nothing before the POST in doubt cannot come any more
  bool await_pod = false;     ///< created and not in the cache yet: read it live after a time
};

/// Decides. `pod` is the Pod of the ShadowPod's name or null. A pod that is lost is created again, unless the phase is
/// final; where restartPolicy is not Always and it had started, the phase becomes Failed instead. A pod that is not
/// controlled by this ShadowPod is never touched. Nothing is created for a ShadowPod that came late (`core/order.hpp`)
/// until its consumer confirms it. `api_server_ips` remaps the host aliases of `kubernetes.default`.
ShadowPlan plan_shadow_pod(const kube::Object& shadow, const kube::Object* pod, const ShadowMemory& memory,
                           const IpMapping* api_server_ips = nullptr);

}  // namespace liqo::core
