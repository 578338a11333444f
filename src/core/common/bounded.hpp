// Cuts JSON of another cluster to a size that can be stored.
// Tested by test/unit/core/offloading/pod_status_test.cpp and test/unit/core/offloading/ephemeral_containers_test.cpp.
#pragma once

#include "kube/base/json.hpp"

namespace liqo::core {

/// The most containers in a list of one pod that are read, however many another cluster has.
inline constexpr std::size_t max_containers = 500;

/// How much of a value is copied: at most `entries` of each list and object, `text` bytes of each text, `depth` levels,
/// and `left` bytes in all; `left` shrinks with each value.
struct Bounds {
  std::size_t text = 4096, entries = 64, left = 256u << 10;
  int depth = 8;
};

/// The value within the bounds; `bounds.left` shrinks by what it takes. The last entries are left out if not all fit.
kube::json::value bounded(const kube::json::value& value, Bounds& bounds);

}  // namespace liqo::core
