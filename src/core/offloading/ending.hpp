// The grace period of the remote pod, if the local pod is deleted with another one than its own. Pure.
//
// The consumer may not delete Pods at its provider. It writes the time on the ShadowPod and then deletes that; the
// provider's liqod deletes the Pod with that time as soon as it reads it. A provider of the Go version reads nothing:
// its garbage collector gives the Pod its own time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The grace period of a pod that does not set one, in seconds.
inline constexpr std::int64_t default_grace = 30;
/// How long the consumer waits for the pod of a ShadowPod with a grace period to begin to end, before it deletes the
/// ShadowPod anyway.
inline constexpr kube::Duration grace_patience = std::chrono::seconds(3);

/// `terminationGracePeriodSeconds` of a pod's spec.
std::int64_t own_grace(const kube::json::object& pod_spec);
/// The grace period in seconds, at least 1, that the deletion of the local pod asks for the remote one. Nothing if it
/// is the pod's own, if the remote pod has no more than that left, or if one of the two has ended.
std::optional<std::int64_t> asked_grace(const kube::Object& local, const kube::Object& remote);
/// The grace period that a ShadowPod notes, in seconds, at least 1; nothing = its pod is to run, or to end in its own
/// time.
std::optional<std::int64_t> ordered_grace(const kube::Object& shadow);
/// The merge patch, with the ShadowPod's UID, that notes a grace period on it.
kube::json::object grace_patch(const kube::Object& shadow, std::int64_t seconds);
/// Whether a pod is not being deleted, or has a longer grace period than that.
bool outlives(const kube::Object& pod, std::int64_t seconds);
/// Whether a pod that is being deleted, or is deleted with its own grace period, has longer than that to end.
bool ends_later(const kube::Object& pod, std::int64_t seconds);

}  // namespace liqo::core
