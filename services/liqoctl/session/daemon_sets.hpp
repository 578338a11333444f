// DaemonSets of a cluster whose pods sit on virtual nodes.
// Tested by test/cluster/nodes/test_daemon_sets.py.
#pragma once

#include <vector>

#include "session/cluster.hpp"

namespace liqoctl {

/// What decides where pods of DaemonSets are.
struct DaemonSetLook {
  std::vector<Object> sitting;  ///< those on virtual nodes, or that would be there (model::sitting_daemon_sets)
  std::vector<Object> all, nodes;
};
/// Errors: of a user who may not list DaemonSets, Nodes or NamespaceOffloadings, among others.
asio::awaitable<Result<DaemonSetLook>> look_at_daemon_sets(Cluster& cluster);

/// Warns of those that sit on virtual nodes, or will. A user who may not see them is not told.
asio::awaitable<void> warn_of_daemon_sets(Cluster& cluster);

}  // namespace liqoctl
