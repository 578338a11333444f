// What is drawn for a schedule: how bad its network is, and what is done in it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cluster.hpp"
#include "kube/base/random.hpp"
#include "kube/testing/link/sim_link.hpp"

namespace liqo::sim {

/// A rate from nothing to `most`. Each kind of fault is absent from half of the schedules, so that the others get their
/// chance.
double draw_rate(kube::Random& random, double most);

/// The faults of one schedule, each kind drawn for itself. `latency`: the most that the network takes one way.
kube::testing::FaultRates draw_faults(kube::Random& random, std::chrono::milliseconds latency);

/// One of the objects, or null where there are none.
Tree draw_tree(kube::Random& random, const std::vector<Tree>& from);

/// One of several things to do, each as often as its weight says.
template <class Act, std::size_t count>
Act draw_act(const std::pair<int, Act> (&acts)[count], kube::Random& random) {
  int total = 0;
  for (const auto& [weight, act] : acts) total += weight;
  auto drawn = random.between(0, total - 1);
  std::size_t at = 0;
  while ((drawn -= acts[at].first) >= 0) ++at;
  return acts[at].second;
}

}  // namespace liqo::sim
