// Replicated objects in the simulation: those of the consumer, a provider that answers them, and the checks at the end.
#pragma once

#include <string>
#include <vector>

#include "cluster.hpp"

namespace liqo::sim {

class World;
struct Violation;

/// Acts as the deciding controllers of a provider: answers each replica in its status after a time, by its spec of that
/// time. Attached to its server for good; must live as long as the simulator runs.
class FakeGrants {
 public:
  static constexpr std::string_view actor = "grants";
  FakeGrants(kube::testing::Simulator& simulator, kube::testing::FakeApiServer& server, std::uint64_t seed);

 private:
  void seen(const kube::testing::FakeChange& change);
  void answer(const kube::Resource& kind, const kube::ObjectKey& key);

  kube::testing::Simulator& simulator_;
  kube::testing::FakeApiServer& server_;
  kube::Random random_;
};

/// A ResourceSlice of the consumer for this provider, complete.
json::object replicated_slice(const Cluster& consumer, const std::string& provider, const std::string& name);
/// The namespace of a cluster for a peer.
void add_tenant_namespace(Cluster& cluster, const std::string& peer);
/// Adds to a provider the twin of the consumer's namespace, and the NamespaceMap that was answered with it. Without
/// them a fault in the first second would remove what the map at home has already.
void add_twin(Cluster& provider, const std::string& consumer);
/// Adds the objects that an operator applies for replication with a provider: credentials, a slice, a Renew.
void add_replication(Cluster& consumer, const std::string& provider);
/// The labels that ask for replication to a provider.
json::object replication_labels(const std::string& provider);

/// The first difference between consumer and providers, "" when there is none.
std::string find_replication_difference(World& world);
/// Deletes the workload, the virtual nodes, everything that is replicated, and the credentials.
void end_replication(World& world);
/// The first object that is left of replication after end_replication(), "" when there is none.
std::string find_replication_leftover(World& world);
/// Checks that a status from a provider is never wiped.
std::vector<Violation> check_replication_history(World& world);

}  // namespace liqo::sim
