// Numbers of values: Helm reads all of them as floating-point ones.
#pragma once

#include "kube/base/json.hpp"

namespace liqoctl::chart {

/// The tree with floating-point numbers only, which templates get.
kube::json::value as_values(kube::json::value tree);
/// The tree in the form in which it is written: numbers that are whole are integers again.
kube::json::value as_written(kube::json::value tree);

}  // namespace liqoctl::chart
