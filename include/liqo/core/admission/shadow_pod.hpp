// Admission of ShadowPods, up to the quota: who made it, where it comes from, and what of it may change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "liqo/core/admission/pod_policy.hpp"
#include "liqo/core/admission/review.hpp"

namespace liqo::core::admission {

/// A user's name as the value of the creator label: what is not a letter, a digit, '_', '-' or '.' becomes '-'. Quotas
/// are found by it.
std::string escape_user(std::string_view user);

/// Stamps the creator label on CREATE. On UPDATE it puts the label back where a writer has dropped it, and gives one to
/// objects of a time without admission that their consumer touches. Everything else passes as it is.
Answer mutate_shadow_pod(const Request& request);

/// What the provider knows about the namespace of a ShadowPod.
struct TwinNamespace {
  std::string remote_cluster;  ///< its label; "" where it has none
  PodPolicy policy;            ///< of that consumer
};

/// Refuses what must not be stored; an allowed answer is not the last word: the quota is still to be asked. On CREATE
/// in this order: origin, namespace, creator, firewall. On UPDATE: labels that cannot change, the identity of the
/// writer, fields of the pod that cannot change, and what the firewall finds that was not there before.
Answer validate_shadow_pod(const Request& request, const TwinNamespace& twin);

/// Where two pods differ, apart from what may change while a pod lives (images, activeDeadlineSeconds, tolerations):
/// the path of the first such field. What is absent, null or empty is the same.
std::optional<std::string> frozen_difference(const json::object& before, const json::object& after);

}  // namespace liqo::core::admission
