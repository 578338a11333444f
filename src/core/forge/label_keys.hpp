// What a scheduling constraint of a pod says by the keys of labels.
#pragma once

#include "kube/base/json.hpp"

namespace liqo::core {

/// Takes away, of `matchLabelKeys` and `mismatchLabelKeys` of a topology spread constraint or a pod affinity term, what
/// the API server of home has written into the selector when the pod was made. The provider's would write it there once
/// more, and refuses a key that it finds in both.
void drop_merged_label_keys(kube::json::object& constraint);

}  // namespace liqo::core
