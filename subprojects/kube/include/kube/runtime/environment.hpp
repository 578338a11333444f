// The parameters with which everything that runs in a process is made.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "kube/async/clock.hpp"
#include "kube/base/random.hpp"
#include "kube/telemetry/metrics.hpp"

namespace kube {

namespace asio = boost::asio;

class Leadership;

/// The loop, time, randomness and metrics of a process; what is referred to outlives whatever is made with it.
struct Environment {
  asio::any_io_executor executor;
  async::Clock& clock;
  Random& random;
  Metrics& metrics;
  /// If it loses leadership, reconciles are stopped without grace (Manager::environment() has it set). Null = they
  /// always have their grace.
  Leadership* leader = nullptr;

  /// For structs that hold more than an Environment: the part that is one.
  const Environment& environment() const { return *this; }
};

}  // namespace kube
