// The states of objects at each moment, from the history of a server.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "cluster.hpp"

namespace liqo::sim {

/// An object of another owner that appears while its name is being taken may be changed; Liqo gives it back within this
/// time.
constexpr kube::Duration max_give_back = std::chrono::minutes(2);

/// An object from one change to the next; no tree = it did not exist.
struct State {
  kube::TimePoint from, until;
  Tree tree;
};

/// All states of all objects in a namespace, by name, without gaps.
std::map<std::string, std::vector<State>> read_states(Cluster& cluster, const kube::Resource& resource,
                                                      std::string_view ns);

bool overlaps(const State& state, kube::TimePoint from, kube::TimePoint until);

}  // namespace liqo::sim
