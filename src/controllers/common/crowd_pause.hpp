// The pause that gathers changes which come in crowds, before everything that they touch is looked at.
// Tested by test/unit/controllers/namespaces/crowd_test.cpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "kube/base/time.hpp"

namespace liqo::controllers {

/// The first change after some quiet is followed at once. While more of them come, each look waits longer after the
/// one before: 200 ms, 400 ms, and so on until 4 s. One thread.
class CrowdPause {
 public:
  /// How long the look at a change that comes now has to wait; zero = it need not.
  kube::Duration left(kube::TimePoint now) const {
    return next_ ? std::max(*next_ - now, kube::Duration::zero()) : kube::Duration::zero();
  }
  /// Notes that a look at everything that has changed so far begins now.
  void begin(kube::TimePoint now) {
    const bool was_quiet = !next_ || now - *next_ > rest_;
    rest_ = was_quiet ? shortest : std::min(2 * rest_, longest);
    next_ = now + rest_;
  }

 private:
  static constexpr kube::Duration shortest = std::chrono::milliseconds(200), longest = std::chrono::seconds(4);
  kube::Duration rest_ = shortest;
  std::optional<kube::TimePoint> next_;  ///< the earliest time of the next look
};

}  // namespace liqo::controllers
