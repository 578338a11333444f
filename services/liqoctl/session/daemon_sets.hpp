// DaemonSets of a cluster whose pods run on virtual nodes.
// Tested by test/cluster/nodes/test_daemon_sets.py.
#pragma once

#include <string>
#include <vector>

#include "session/cluster.hpp"

namespace liqoctl {

/// The objects that decide where pods of DaemonSets run.
struct DaemonSetSnapshot {
  std::vector<Object> sitting;    ///< those on virtual nodes, or that would be there (model::sitting_daemon_sets)
  std::vector<Object> elsewhere;  ///< those of offloaded namespaces (model::elsewhere_daemon_sets)
  std::vector<Object> all, nodes;
};
/// Errors: among others that the user may not list DaemonSets, Nodes or NamespaceOffloadings.
asio::awaitable<Result<DaemonSetSnapshot>> look_at_daemon_sets(Cluster& cluster);

/// Warns of DaemonSets whose pods run on virtual nodes, or will. A user who may not list them gets no warning.
asio::awaitable<void> warn_of_daemon_sets(Cluster& cluster);

/// Warns of DaemonSets of an offloaded namespace whose pods run on virtual nodes, or will. A user who may not list them
/// gets no warning.
asio::awaitable<void> warn_of_offloaded_daemon_sets(Cluster& cluster, std::string ns);

}  // namespace liqoctl
