// Draws the faults of a schedule's network, and the actions in it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cluster.hpp"
#include "kube/base/random.hpp"
#include "kube/testing/link/sim_link.hpp"

namespace liqo::sim {

/// A rate from nothing to `most`. Each kind of fault is absent from half of the schedules, so that the others show up.
double draw_rate(kube::Random& random, double most);

/// The faults of one schedule, each kind drawn by itself. `latency`: the longest time that the network takes one way.
kube::testing::FaultRates draw_faults(kube::Random& random, std::chrono::milliseconds latency);

/// Draws one of the objects; null if there are none.
Tree draw_tree(kube::Random& random, const std::vector<Tree>& from);

/// Draws one of several actions, each as often as its weight demands.
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
