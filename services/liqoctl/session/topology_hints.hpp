// Services of a cluster that lose the hints of topology-aware routing by a virtual node.
// Tested by test/cluster/nodes/test_topology_hints.py.
#pragma once

#include <string>
#include <vector>

#include "session/cluster.hpp"

namespace liqoctl {

/// The sentence about them (model::lost_hints_in_words); "" if there are none. Lists Services only if a virtual node of
/// `nodes` is a reason. Errors: among others that the user may not list Services.
asio::awaitable<Result<std::string>> look_at_topology_hints(Cluster& cluster, std::vector<Object> nodes);

/// Warns of them. A user who may not list Nodes and Services gets no warning.
asio::awaitable<void> warn_of_lost_hints(Cluster& cluster);

}  // namespace liqoctl
