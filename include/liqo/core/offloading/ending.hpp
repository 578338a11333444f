// How long a pod may take to end, where somebody deletes it at home with another time than its own. Pure.
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

/// What pods have that say nothing.
inline constexpr std::int64_t default_grace = 30;
/// How long a ShadowPod that says how its pod is to end waits for that, before it is deleted all the same.
inline constexpr kube::Duration grace_patience = std::chrono::seconds(3);

/// `terminationGracePeriodSeconds` of a pod's spec.
std::int64_t own_grace(const kube::json::object& pod_spec);
/// The time that the remote pod is to have because somebody deleted the local one with it, at least a second; nothing
/// where its own is right, it has so much or less already, or has ended.
std::optional<std::int64_t> asked_grace(const kube::Object& local, const kube::Object& remote);
/// What a ShadowPod says about it, at least a second; nothing = its pod is to run, or to end in its own time.
std::optional<std::int64_t> ordered_grace(const kube::Object& shadow);
/// The merge patch that makes the ShadowPod say it, with its UID.
kube::json::object grace_patch(const kube::Object& shadow, std::int64_t seconds);
/// Whether a pod that is being deleted has more time than that, or is not being deleted.
bool outlives(const kube::Object& pod, std::int64_t seconds);

}  // namespace liqo::core
