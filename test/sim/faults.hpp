// How bad the network of a schedule is.
#pragma once

#include "kube/base/random.hpp"
#include "kube/testing/sim_link.hpp"

namespace liqo::sim {

/// A rate from nothing to `most`. Each kind of fault is absent from half of the schedules, so that the others get their
/// chance.
double draw_rate(kube::Random& random, double most);

/// The faults of one schedule, each kind drawn for itself. `latency`: the most that the network takes one way.
kube::testing::FaultRates draw_faults(kube::Random& random, std::chrono::milliseconds latency);

}  // namespace liqo::sim
