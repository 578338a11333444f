// Metrics of this cluster's peers, from the objects of this cluster: virtual nodes, slices, certificates.
// Tested by test/cluster/install/test_metrics.py.
#pragma once

#include <string>

#include "controllers/nodes/virtual_node.hpp"
#include "controllers/process/slice_metrics.hpp"

namespace liqo::controllers {

/// Gauges are set at each scrape from what was read of an object when it changed, so a series disappears with its
/// object. Only the process that leads shows them, so that a sum over all replicas is right. Label values are names of
/// objects of this cluster, and the resources that are common or that a slice of ours asks for. One thread.
class StateMetrics {
 public:
  /// `nodes` outlives this.
  StateMetrics(const VirtualNodeController& nodes, Context context);

 private:
  void refresh();
  void show_nodes(bool leads);
  void show_peers(bool leads);
  /// Reads the certificate of an Identity again.
  void read_identity(const kube::Change& identity);

  /// The values shown for a VirtualNode, for its Node, and for a ForeignCluster.
  struct Offered {
    std::string cluster;
    bool has_node = false;
  };
  struct Machine {
    std::string cluster;
    bool is_ready = false;
  };
  struct Reached {
    std::string cluster, status;
  };
  struct Expiry {
    std::string cluster;
    double start, end;  ///< of its certificate, in seconds since the epoch
  };
  const VirtualNodeController& controller_;
  Context context_;
  kube::InformerHandle virtual_nodes_, nodes_, foreign_clusters_, identities_;
  kube::View<Offered> offered_;
  kube::View<Machine> machines_;
  kube::View<Reached> reached_;
  SliceMetrics slices_;
  std::map<kube::ObjectKey, Expiry> expiries_;  ///< of the Identities that have a certificate
  kube::Gauge leads_;
  kube::GaugeSet ready_, pods_, without_room_, reachable_, begins_, expires_;
  kube::TimePoint next_{};          ///< the earliest time at which the gauges are set again
  kube::Metrics::Reading reading_;  ///< the last member: what it calls uses the others
};

}  // namespace liqo::controllers
