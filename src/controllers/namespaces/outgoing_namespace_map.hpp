// The NamespaceMap by which this cluster, as a consumer, asks a provider for the twins of all its namespaces.
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "controllers/namespaces/offered_nodes.hpp"
#include "controllers/storage/remote_data_watch.hpp"
#include "core/namespaces/desired_mapping.hpp"
#include "core/namespaces/held_twins.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/view.hpp"

namespace liqo::controllers {

/// Keeps the NamespaceMap of a provider in its tenant namespace while VirtualNodes of that provider exist, and its
/// desiredMapping as all NamespaceOffloadings together want it. Twins that hold data of volumes stay in the map, even
/// when the last VirtualNode is gone. The key is the provider's cluster ID, so trouble with one map delays no other,
/// and one write carries all its changes. The larger the map, the longer the pause between two writes. A
/// NamespaceOffloading that changes enqueues the maps that it affects, and each map is decided by the
/// NamespaceOffloadings that affect it. One thread.
class OutgoingNamespaceMapController final : public Runnable {
 public:
  explicit OutgoingNamespaceMapController(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  asio::awaitable<kube::Outcome> create(kube::ObjectKey key, std::string cluster, core::WantedTwins wanted);
  /// Writes the map so that it asks for these twins.
  asio::awaitable<kube::Result<void>> write(kube::Object map, std::string cluster, core::WantedTwins wanted);
  /// Removes the maps, because no VirtualNode is left, except for twins that hold data.
  asio::awaitable<kube::Outcome> end_maps(std::string cluster, std::vector<kube::ObjectKey> maps);
  /// Reports the twins that hold data if no NamespaceOffloading can, each time that what they hold changes.
  void report_held(const std::string& cluster, const core::HeldTwins& held);
  /// Reports the twins that stay only for a while, and returns when to look again: when the first of them goes.
  kube::Outcome report_leaving(std::string_view cluster, const core::TwinWish& wish,
                               const core::WantedTwins& twins) const;
  void enqueue(std::string_view cluster);
  void enqueue_all();
  void enqueue_request(const kube::ObjectKey& offloading);
  /// Finds the maps that changed NamespaceOffloadings affect, over several turns of the loop, and enqueues them.
  /// `offered_` is up to date in the turn of the loop in which this returns.
  asio::awaitable<void> see_requests();
  void see_request(const kube::ObjectKey& offloading);
  /// The requests that select a virtual node of the provider, and those whose twins its map asks for.
  std::vector<const core::TwinRequest*> requests_for(std::string_view cluster, const core::WantedTwins& current) const;
  /// The virtual nodes of a provider, and their Nodes.
  struct Nodes {
    std::vector<kube::Object> virtual_nodes, nodes;
    std::vector<core::OfferedNode> offered;  ///< points into both
  };
  Nodes nodes_of(std::string_view cluster) const;

  /// The part of a NamespaceMap that decides which NamespaceOffloadings affect it.
  struct Destination {
    std::string cluster;                        ///< the provider that it is for, "" = it is not an outgoing map
    std::set<std::string, std::less<>> spaces;  ///< the namespaces for whose twins it asks
  };
  static Destination destination_of(const kube::Object& map);

  Context context_;
  RemoteDataWatch data_;
  kube::InformerHandle virtual_nodes_, nodes_, offloadings_, maps_;
  OfferedNodes offered_;
  kube::View<core::TwinRequest> requests_;                    ///< of the NamespaceOffloadings
  std::set<kube::ObjectKey> changed_;                         ///< the NamespaceOffloadings that see_requests() looks at
  kube::View<std::string> clusters_;                          ///< of VirtualNodes
  kube::View<Destination> destinations_;                      ///< of NamespaceMaps
  std::unordered_map<std::string, core::TwinMemory> memory_;  ///< by cluster
  std::unordered_map<std::string, core::HeldTwins> reported_;  ///< by cluster: the data that was reported last
  std::unordered_map<std::string, kube::TimePoint> written_;   ///< by cluster: when its map was written last
  kube::Controller controller_;
};

}  // namespace liqo::controllers
