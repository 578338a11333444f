// The invariants of every schedule, checked by the histories of all servers and their final state.
#pragma once

#include <string>
#include <vector>

#include "world.hpp"

namespace liqo::sim {

/// A violated invariant: its name, and the evidence.
struct Violation {
  std::string invariant;
  std::string what;
};

/// Checks the history: no pod lost, doubled or run again; nothing deleted at a provider that is wanted at home.
std::vector<Violation> check_history(World& world);

/// Checks that no namespace is withdrawn, on either side, while its workload exists.
std::vector<Violation> check_namespaces(World& world);

/// Checks that no pod at home is being deleted for long, no end is invented, and no Job fails because of an invented
/// end.
std::vector<Violation> check_jobs(World& world);

/// Compares the present state of all clusters. The first difference that is left, "" when there is none.
std::string find_difference(World& world);

/// Writes of the daemons after a time, without heartbeats (leases, nodes) and Events, each as one line.
std::vector<std::string> list_writes(World& world, kube::TimePoint after = {});

/// The merged history of all objects of that name (pods, ShadowPods, Secrets, nodes, VirtualNodes, and replicated
/// objects), a line per change.
std::vector<std::string> trace(World& world, std::string_view name);

}  // namespace liqo::sim
