// Whether an operator of the provider has cordoned or drained a slice.
#pragma once

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether the slice carries one of the cordon marks: an annotation with any value but "false", "False" and "0".
bool is_cordoned(const kube::Object& slice);
/// Whether the slice carries the drain mark, read likewise.
bool is_drained(const kube::Object& slice);

}  // namespace liqo::core
