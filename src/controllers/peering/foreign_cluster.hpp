// Keeps a ForeignCluster with its status for every peer, and removes it with the last object of the peer.
// Tested by test/sim/replication.cpp.
#pragma once

#include <string>
#include <vector>

#include "controllers/peering/replicator.hpp"
#include "core/peering/foreign_cluster.hpp"
#include "core/peering/offloading_part.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Keeps one ForeignCluster for each cluster ID that has a Tenant, a ControlPlane Identity or Secret, a VirtualNode or
/// a network Configuration. One that people made is kept. Of several for one ID the oldest counts. The state of the
/// peer's API server is that of the replicator's session. One thread.
class ForeignClusterController final : public Runnable {
 public:
  /// `replicator` outlives this.
  ForeignClusterController(Context context, Replicator& replicator);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  /// A kind whose objects belong to a peer, and where they have their cluster ID.
  struct Source {
    kube::InformerHandle objects;
    bool in_spec = false;  ///< spec.clusterID, else the label alone
    bool required = true;  ///< wait for its cache: the module of the kind is always installed
    /// Reads the part of an object that counts besides its cluster; null = everything counts.
    core::OffloadingPart (*part)(const kube::Object& object) = nullptr;
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Outcome> create(std::string cluster);
  asio::awaitable<kube::Outcome> remove(kube::Object foreign_cluster);
  /// The state of a peer, from the caches.
  core::PeerState look_at(const std::string& cluster) const;
  /// Writes the status, and reports what is new in it.
  asio::awaitable<kube::Outcome> report(kube::Object foreign_cluster, core::PeerState peer);
  std::vector<kube::Object> objects_of(const Source& source, std::string_view cluster) const;
  void watch(Source& source);
  void enqueue(const std::string& cluster);
  void enqueue_all();
  static std::string cluster_of(bool in_spec, const kube::Object& object);

  Context context_;
  Replicator& replicator_;
  Source foreign_clusters_, tenants_, identities_, virtual_nodes_, nodes_, configurations_;
  kube::Controller controller_;
  kube::Log log_;
};

}  // namespace liqo::controllers
