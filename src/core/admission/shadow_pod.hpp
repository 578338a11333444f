// Admission of ShadowPods, without the quota: their creator, their origin, and which fields may change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/admission/review.hpp"
#include "core/policy/pod_policy.hpp"

namespace liqo::core::admission {

/// Stamps the creator label on CREATE. On UPDATE it puts the label back if a writer has dropped it, and adds it to a
/// ShadowPod that was created without admission once its consumer changes it. Other requests pass unchanged.
Answer mutate_shadow_pod(const Request& request);

/// What the provider knows about the namespace of a ShadowPod.
struct TwinNamespace {
  std::string remote_cluster;  ///< its label; "" if it has none
  PodPolicy policy;            ///< of that consumer
  /// Storage classes that the consumer was granted, if the pod has templates of claims.
  std::vector<std::string> offered_classes;
};

/// Refuses what must not be stored. If it allows the request, the quota is still to be checked. On CREATE in this
/// order: origin, namespace, creator, namespace, name and UID of the object, size, firewall. On UPDATE: labels that
/// cannot change, the identity of the writer, fields of the pod that cannot change, ephemeral containers, and what the
/// firewall finds that was not there before.
Answer validate_shadow_pod(const Request& request, const TwinNamespace& twin);

/// Whether a stored ShadowPod is to ask for other amounts.
bool is_resize(const Request& request);

/// The path of the first field in which two PodSpecs differ, apart from fields that may change while a pod lives
/// (images, requests and limits of cpu and memory, activeDeadlineSeconds, tolerations, ephemeral containers). Absent,
/// null and empty are equal.
std::optional<std::string> frozen_difference(const json::object& before, const json::object& after);

/// The number and size of the stored ShadowPods of one consumer, also of those that have finished.
struct StoredAmount {
  std::size_t objects = 0, bytes = 0;
};
/// Why a consumer with so much stored may store no more ShadowPods; "" if it may. Without `figures` the sentence has no
/// numbers.
std::string refuse_stored(const StoredAmount& stored, const PodPolicy& policy, bool figures = true);
/// Why a consumer with so much stored may not have what the request adds: a new ShadowPod, or one that the consumer
/// makes larger; "" if it may. Without `figures` the sentence has no numbers.
std::string refuse_growth(const Request& request, const StoredAmount& stored, const PodPolicy& policy,
                          bool figures = true);

}  // namespace liqo::core::admission
