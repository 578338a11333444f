// What everything that runs in a process is made with.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "kube/async/clock.hpp"
#include "kube/base/random.hpp"
#include "kube/telemetry/metrics.hpp"

namespace kube {

namespace asio = boost::asio;

class Leadership;

/// The loop, time, chance and metrics of a process; what is referred to outlives whatever is made with it.
struct Environment {
  asio::any_io_executor executor;
  async::Clock& clock;
  Random& random;
  Metrics& metrics;
  /// Whose loss leaves reconciles that are stopped no grace (Manager::environment() has it set). Null = nobody's.
  Leadership* leader = nullptr;

  /// For structs that hold more than an Environment: the part that is one.
  const Environment& environment() const { return *this; }
};

}  // namespace kube
