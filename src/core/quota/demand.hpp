// The amounts that a ShadowPod asks of a Quota, and the demands of the Quota's enforcement on the pod.
#pragma once

#include <optional>
#include <string>

#include "core/quota/pod_requests.hpp"

namespace liqo::core {

/// `spec.limitsEnforcement` of a Quota.
enum class Enforcement {
  none,  ///< pods may leave requests and limits open
  soft,  ///< every container requests cpu and memory
  hard,  ///< and its limits equal its requests
};

/// Reads `spec.limitsEnforcement`. An empty text is soft, as in the Go version; an unknown one is hard, so that a
/// typing error never opens a Quota.
Enforcement parse_enforcement(std::string_view text);

/// How pods are counted.
enum class Counting {
  exact,       ///< as the scheduler reserves them
  containers,  ///< as the Go version does: requests of containers, the largest init container, nothing else
};

/// Why the enforcement refuses a pod; nothing if it does not. `needs` have been settled. A container that limits but
/// does not request counts as requesting its limits, and pod-level requests stand for the containers'.
std::optional<std::string> check_enforcement(const PodNeeds& needs, Enforcement enforcement, Counting counting);

/// The amounts that a pod takes from its Quota, `pods` included; never less than its containers request, whatever is
/// written at the level of the pod. The needs have been settled for exact counting, and are as written for
/// `containers`.
Resources pod_demand(const PodNeeds& needs, Counting counting);

}  // namespace liqo::core
