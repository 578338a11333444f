// Numbers of values: Helm reads all of them as floating-point ones.
#pragma once

#include "kube/base/json.hpp"

namespace liqoctl::chart {

/// The tree with floating-point numbers only, as templates get it.
kube::json::value as_values(kube::json::value tree);
/// The tree with whole numbers where they are such, as it is written.
kube::json::value as_written(kube::json::value tree);

}  // namespace liqoctl::chart
