// Containers, and pods as a whole, that get other amounts of cpu and memory while they run (KEP-1287, KEP-5419): from
// the pod at home to its ShadowPod, and from there to the Pod.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether a container of the first PodSpec asks for another amount of cpu or memory than the one of its name in the
/// second, or its pod than the second's. What the first leaves open is no other amount.
bool asks_otherwise(const kube::json::object& wanted, const kube::json::object& have);

/// At home: the merge patch that brings the amounts of the pod to its ShadowPod, with its UID and resourceVersion;
/// nothing where it has them.
std::optional<kube::json::object> plan_shadow_resize(const kube::Object& local_pod, const kube::Object& shadow);

/// At home: whether the ShadowPod has the amounts and the ephemeral containers of the pod.
bool has_sent(const kube::Object& local_pod, const kube::Object& shadow);

/// What is compared of the amounts that the containers of a PodSpec ask for.
std::string resources_digest(const kube::json::object& pod_spec);

/// At the provider: what a Pod notes that has the amounts of its ShadowPod as that is now: its generation, and the
/// digest.
std::string applied_note(const kube::Object& shadow);
/// The generation of its ShadowPod whose amounts the Pod notes to have: nothing for a Pod that notes none, and so is
/// never resized; 0 for one that is being resized.
std::optional<std::int64_t> applied_generation(const kube::Object& pod);

/// At the provider: that the ShadowPod has other amounts than those that the Pod was made with or resized to last. What
/// the provider's own admission has made of them is not looked at. The Pod notes that it is being resized before it is:
/// whatever is found between the two steps, by whomever, is brought to what the ShadowPod says then.
struct PodResize {
  /// Strategic merge patch for `pods/<name>/resize`, with the Pod's resourceVersion; nothing where the Pod has them.
  std::optional<kube::json::object> patch;
  bool is_begun = false;     ///< the Pod notes that it is being resized to these
  kube::json::object begin;  ///< strategic merge patch for the Pod before, with its UID
  kube::json::object done;   ///< the same once it has them
};
/// Nothing for a Pod that does not note its amounts: a version made it that does not resize.
std::optional<PodResize> plan_pod_resize(const kube::Object& shadow, const kube::Object& pod);

/// The strategic merge patch that notes on the Pod, with its UID, that it does not get what its ShadowPod has now, and
/// why; nothing where it says so already.
std::optional<kube::json::object> resize_refusal_patch(const kube::Object& shadow, const kube::Object& pod,
                                                       std::string_view words);

/// Whether a server has no such request as a resize, which came with Kubernetes 1.33, rather than no such Pod.
bool is_without_resize(const kube::Failure& failure);
inline constexpr std::string_view without_resize = "its Kubernetes is older than 1.33 and resizes no pods";

/// At home: why a pod does not get the amounts that it asks for.
struct ResizeRefusal {
  std::string words;      ///< "" = it does, as far as is known
  bool may_pass = false;  ///< there is no room for now
};
inline constexpr std::string_view resize_not_carried =
    "this version of Liqo there does not resize pods: it keeps what it was created with";

inline constexpr std::string_view resize_not_kept =
    "it takes the change of the ShadowPod and stores other amounts than those that were asked for";

/// Whether the node of a Pod may have given it other amounts than it asks for: it is changing them, has put that off or
/// cannot do it at all, or has not looked at the Pod as it is now.
bool is_being_resized(const kube::Object& pod);

/// At home: whether the Pod has the amounts of its ShadowPod, and its node sees to none of them any more.
bool has_resized(const kube::Object& shadow, const kube::Object& remote);
/// At home: whether the provider resizes the Pod when its ShadowPod changes.
bool takes_resize(const kube::Object& remote);
/// At home: why the Pod does not get what its ShadowPod has, as the provider notes it; "" = it does, as far as is
/// known.
std::string resize_left_out(const kube::Object& remote);

}  // namespace liqo::core
