// What another cluster says, cut to a size that can be stored.
#pragma once

#include "kube/base/json.hpp"

namespace liqo::core {

/// How much of a value is copied: at most so many entries of each list and object, and so many bytes in all, of which
/// `left` says what is left; texts are cut after `text` bytes, and nothing is nested deeper than `depth`.
struct Bounds {
  std::size_t text = 4096, entries = 64, left = 256u << 10;
  int depth = 8;
};

/// The value within the bounds, which shrink by what it takes. What does not fit is left out, the last first.
kube::json::value bounded(const kube::json::value& value, Bounds& bounds);

}  // namespace liqo::core
