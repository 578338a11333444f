// A bounded number of answers for callers that are not proven to be API servers, because one of them may be one.
// Tested by test/unit/core/admission/proven_callers_test.cpp.
#pragma once

#include <algorithm>

#include "kube/base/time.hpp"

namespace liqo::core::admission {

/// An answer that costs the cluster a request, or reveals something about it, is given a few times at once, and then
/// once in five seconds, to all such callers together. Pure; time is given.
class UnprovenTurns {
 public:
  static constexpr int burst = 8;
  static constexpr kube::Duration refill = std::chrono::seconds(5);

  /// Takes a turn; false if none is left.
  bool take(kube::TimePoint now) {
    const kube::TimePoint from = std::max(full_at_, now);
    if (from - now > (burst - 1) * refill) return false;
    full_at_ = from + refill;
    return true;
  }

 private:
  kube::TimePoint full_at_{};  ///< when all turns are there again
};

}  // namespace liqo::core::admission
