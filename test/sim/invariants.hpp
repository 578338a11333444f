// What must hold of every schedule, read off the histories of all servers and their final state.
#pragma once

#include <string>
#include <vector>

#include "world.hpp"

namespace liqo::sim {

/// A broken promise: its name, and what shows it.
struct Violation {
  std::string invariant;
  std::string what;
};

/// Checks the history: no pod lost, doubled or run again; nothing deleted at a provider that is wanted at home.
std::vector<Violation> check_history(World& world);

/// No namespace is withdrawn, on either side, while its workload is there.
std::vector<Violation> check_namespaces(World& world);

/// No pod at home is being deleted for long, no end is invented, and no Job fails for one.
std::vector<Violation> check_jobs(World& world);

/// Compares all clusters as they are. The first difference that is left, "" when there is none.
std::string find_difference(World& world);

/// Writes of the daemons after a time, without heartbeats (leases, nodes) and Events, each as one line.
std::vector<std::string> list_writes(World& world, kube::TimePoint after = {});

/// The merged history of all objects of that name (pods, ShadowPods, Secrets, nodes, VirtualNodes, and what is
/// replicated), a line per change.
std::vector<std::string> trace(World& world, std::string_view name);

}  // namespace liqo::sim
