// What the objects of this cluster say about its peers, as metrics: virtual nodes, slices, certificates.
// Tested by test/cluster/test_metrics.py.
#pragma once

#include "controllers/nodes/virtual_node.hpp"

namespace liqo::controllers {

/// Gauges are read from the caches at each scrape, so that a series goes with its object. Only the process that leads
/// shows them: a sum over all replicas is right. Label values are names of objects of this cluster, and the
/// resources that are common or that a slice of ours asks for. One thread.
class StateMetrics {
 public:
  /// `nodes` outlives this.
  StateMetrics(const VirtualNodeController& nodes, Context context);

 private:
  void refresh();
  void show_nodes(bool leads);
  void show_slices(bool leads);
  void show_peers(bool leads);
  /// Reads the certificate of an Identity anew.
  void read_identity(const kube::Change& identity);

  struct Expiry {
    std::string cluster;
    double start, end;  ///< of its certificate, in seconds since the epoch
  };
  const VirtualNodeController& controller_;
  Context context_;
  kube::InformerHandle virtual_nodes_, nodes_, slices_, foreign_clusters_, identities_;
  std::map<kube::ObjectKey, Expiry> expiries_;  ///< of the Identities that have a certificate
  kube::Gauge leads_;
  kube::GaugeSet ready_, pods_, without_room_, requested_, granted_, accepted_, reachable_, begins_, expires_;
  kube::TimePoint next_{};          ///< of the next look into the caches, at the earliest
  kube::Metrics::Reading reading_;  ///< the last member: what it calls uses the others
};

}  // namespace liqo::controllers
