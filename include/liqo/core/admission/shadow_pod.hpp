// Admission of ShadowPods, up to the quota: who made it, where it comes from, and what of it may change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  /// Storage classes that the consumer was granted, where the pod has templates of claims.
  std::vector<std::string> offered_classes;
};

/// Refuses what must not be stored; an allowed answer is not the last word: the quota is still to be asked. On CREATE
/// in this order: origin, namespace, creator, namespace, name and UID of the object, size, firewall. On UPDATE: labels
/// that cannot change, the identity of the writer, fields of the pod that cannot change, ephemeral containers, and what
/// the firewall finds that was not there before.
Answer validate_shadow_pod(const Request& request, const TwinNamespace& twin);

/// Whether a stored ShadowPod is to ask for other amounts.
bool is_resize(const Request& request);

/// Where two pods differ, apart from what may change while a pod lives (images, requests and limits of cpu and memory,
/// activeDeadlineSeconds, tolerations, ephemeral containers): the path of the first such field. What is absent, null or
/// empty is the same.
std::optional<std::string> frozen_difference(const json::object& before, const json::object& after);

/// ShadowPods of one consumer that are stored, finished or not.
struct StoredAmount {
  std::size_t objects = 0, bytes = 0;
};
/// Why a consumer of which so much is stored stores no more ShadowPods, "" if it may. Without `figures` it says that it
/// is so, and no more.
std::string refuse_stored(const StoredAmount& stored, const PodPolicy& policy, bool figures = true);
/// The same for one request about a ShadowPod: a new one, or a change of its consumer by which it gets larger.
std::string refuse_growth(const Request& request, const StoredAmount& stored, const PodPolicy& policy,
                          bool figures = true);

}  // namespace liqo::core::admission
