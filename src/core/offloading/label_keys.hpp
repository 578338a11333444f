// The `matchLabelKeys` of a pod's scheduling constraints.
// Tested by test/unit/core/offloading/shadow_pod_test.cpp and test/unit/core/offloading/shadow_plan_test.cpp.
#pragma once

#include "kube/base/json.hpp"

namespace liqo::core {

/// Takes away, of `matchLabelKeys` and `mismatchLabelKeys` of the topology spread constraints and pod affinity terms of
/// a pod's spec, what the API server of home has written into their selectors when the pod was made. The provider's
/// would write it there once more, and refuses a key that it finds in both.
void drop_merged_label_keys(kube::json::object& spec);

}  // namespace liqo::core
