// Whether an operator of the provider has cordoned or drained a slice.
// Tested by test/unit/core/slices/grant_test.cpp.
#pragma once

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether the slice carries one of the cordon marks: an annotation with any value but "false", "False" and "0".
bool is_cordoned(const kube::Object& slice);
/// Whether the slice carries the drain mark: an annotation with any value but "false", "False" and "0".
bool is_drained(const kube::Object& slice);

}  // namespace liqo::core
