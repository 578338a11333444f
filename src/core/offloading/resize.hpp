// Resizes of running containers and pods to other amounts of cpu and memory (KEP-1287, KEP-5419), copied from the pod
// at home to its ShadowPod, and from there to the Pod.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kube/base/failure.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether PodSpec `wanted` asks for another amount of cpu or memory than `have`, for a container of the same name or
/// for the pod as a whole. An amount that `wanted` leaves open is not another one.
bool asks_otherwise(const kube::json::object& wanted, const kube::json::object& have);

/// At home: the merge patch, with the ShadowPod's UID and resourceVersion, that gives it the amounts of the pod;
/// nothing if it has them.
std::optional<kube::json::object> plan_shadow_resize(const kube::Object& local_pod, const kube::Object& shadow);

/// At home: whether the ShadowPod has the amounts and the ephemeral containers of the pod.
bool has_sent(const kube::Object& local_pod, const kube::Object& shadow);

/// A digest of the amounts in a PodSpec, for comparisons.
std::string resources_digest(const kube::json::object& pod_spec);

/// At the provider: the note on a Pod that has the present amounts of its ShadowPod: the ShadowPod's generation, and
/// the digest.
std::string applied_note(const kube::Object& shadow);
/// The generation of the ShadowPod whose amounts a Pod notes to have: nothing for a Pod without the note, which is
/// never resized; 0 for a Pod that is being resized.
std::optional<std::int64_t> applied_generation(const kube::Object& pod);

namespace resize_action {
/// The Pod has the amounts already: only the note is to be written.
struct Note {
  kube::json::object patch;  ///< strategic merge patch for the Pod, with its UID
};
/// Note on the Pod that it is being resized to these amounts.
struct Begin {
  kube::json::object patch;  ///< strategic merge patch for the Pod, with its UID
};
/// The Pod notes that it is being resized to these amounts: resize it, then note that it has them.
struct Apply {
  kube::json::object patch;  ///< strategic merge patch for `pods/<name>/resize`, with the Pod's resourceVersion
  kube::json::object done;   ///< strategic merge patch for the Pod after it, with its UID
};
}  // namespace resize_action

/// At the provider: the next step of a resize, if the ShadowPod has other amounts than those with which the Pod was
/// created or last resized. Changes that the provider's own admission made to them do not count. The Pod notes the
/// resize before it begins, so that any replica that finds it halfway brings it to what the ShadowPod asks for then.
using PodResize = std::variant<resize_action::Note, resize_action::Begin, resize_action::Apply>;
/// The next step of a resize of the Pod. Nothing for a Pod that has the amounts, and for one that does not note its
/// amounts, because a version without resizes created it.
std::optional<PodResize> plan_pod_resize(const kube::Object& shadow, const kube::Object& pod);

/// The strategic merge patch, with the Pod's UID, that notes on the Pod that it does not get the present amounts of its
/// ShadowPod, and why; nothing if it says so already.
std::optional<kube::json::object> resize_refusal_patch(const kube::Object& shadow, const kube::Object& pod,
                                                       std::string_view words);

/// Whether the server does not know the resize of pods, which came with Kubernetes 1.33. False if it is the Pod that
/// was not found.
bool is_without_resize(const kube::Failure& failure);
inline constexpr std::string_view without_resize = "its Kubernetes is older than 1.33 and resizes no pods";

/// At home: why a pod does not get the amounts that it asks for.
struct ResizeRefusal {
  std::string words;      ///< "" = it does, as far as is known
  bool may_pass = false;  ///< there is no room at present
};
inline constexpr std::string_view resize_not_carried =
    "its version of Liqo resizes no pods, so the pod keeps the amounts that it was created with";

inline constexpr std::string_view resize_not_kept =
    "it takes the change of the ShadowPod and stores other amounts than those that were asked for";

/// At home: whether the Pod has the amounts of its ShadowPod, and its node has no resize left to do.
bool has_resized(const kube::Object& shadow, const kube::Object& remote);
/// At home: whether the provider resizes the Pod when its ShadowPod changes.
bool takes_resize(const kube::Object& remote);
/// At home: why the Pod does not get the amounts of its ShadowPod, as the provider notes it; "" = no note.
std::string resize_left_out(const kube::Object& remote);

}  // namespace liqo::core
