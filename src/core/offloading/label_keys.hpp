// The `matchLabelKeys` of a pod's scheduling constraints.
// Tested by test/unit/core/offloading/shadow_pod_test.cpp and test/unit/core/offloading/shadow_plan_test.cpp.
#pragma once

#include "kube/base/json.hpp"

namespace liqo::core {

/// Removes keys from `matchLabelKeys` and `mismatchLabelKeys` of the topology spread constraints and pod affinity terms
/// of a pod's spec: those that the API server at home wrote into their selectors when the pod was created. The
/// provider's API server would write them there once more, and refuses a key that it finds in both.
void drop_merged_label_keys(kube::json::object& spec);

}  // namespace liqo::core
