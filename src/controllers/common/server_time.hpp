// The clock by which the API server at home stamps objects.
#pragma once

#include "controllers/common/context.hpp"
#include "kube/base/time.hpp"

namespace liqo::controllers {

/// The time on the clock of the API server at home at `then`, as far as its answers have shown. Compare a
/// creationTimestamp with this: our own clock may be wrong.
inline kube::WallTime server_time(const Context& context, kube::TimePoint then) {
  const std::chrono::seconds ahead = context.home.api().clock_ahead().value_or(std::chrono::seconds(0));
  const auto since = std::chrono::floor<kube::WallTime::duration>(context.clock.now() - then);
  return context.clock.wall() - since + ahead;
}

}  // namespace liqo::controllers
