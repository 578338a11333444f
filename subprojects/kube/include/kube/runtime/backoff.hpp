// How long to wait before the next try.
#pragma once

#include <algorithm>

#include "kube/base/random.hpp"
#include "kube/base/time.hpp"

namespace kube {

/// Exponential, with jitter: first, 2·first, 4·first … up to `max_pause`, each less up to 25 %.
struct BackoffPolicy {
  Duration first = std::chrono::milliseconds(200);
  Duration max_pause = std::chrono::seconds(30);

  /// The pause before try `failures` + 1 (failures ≥ 1).
  Duration pause(int failures, Random& random) const {
    const int doublings = std::clamp(failures - 1, 0, 30);
    const double full =
        std::min(double(max_pause.count()), double(first.count()) * double(std::int64_t(1) << doublings));
    return Duration(std::int64_t(full * (1.0 - 0.25 * random.unit())));
  }
};

}  // namespace kube
