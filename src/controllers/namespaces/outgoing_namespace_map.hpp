// What this cluster, as consumer, asks of each provider: one NamespaceMap for all its namespaces.
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
/// desiredMapping as all NamespaceOffloadings together want it. Twins that hold data of volumes stay asked for, also
/// when the last VirtualNode is gone. The key is the provider's cluster ID, so that trouble with one map delays no
/// other, and one write carries all its changes: the larger the map, the longer the pause between two. A
/// NamespaceOffloading that changes makes the maps due that it touches, and a map is decided by those that touch it.
/// One thread.
class OutgoingNamespaceMapController final : public Runnable {
 public:
  explicit OutgoingNamespaceMapController(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  asio::awaitable<kube::Outcome> create(kube::ObjectKey key, std::string cluster, core::WantedTwins wanted);
  /// Has the map ask for these twins.
  asio::awaitable<kube::Result<void>> write(kube::Object map, std::string cluster, core::WantedTwins wanted);
  /// No VirtualNode is left: the maps go, but for the twins that hold data.
  asio::awaitable<kube::Outcome> end_maps(std::string cluster, std::vector<kube::ObjectKey> maps);
  /// Tells of the twins that hold data where no NamespaceOffloading can; each time that what they hold changes.
  void tell_held(const std::string& cluster, const core::HeldTwins& held);
  /// Tells of the twins that stay for a while only, and looks again when the first of them goes.
  kube::Outcome tell_leaving(std::string_view cluster, const core::TwinWish& wish,
                             const core::WantedTwins& twins) const;
  void enqueue(std::string_view cluster);
  void enqueue_all();
  void enqueue_request(const kube::ObjectKey& offloading);
  /// Finds out which maps the NamespaceOffloadings touch that have changed, over several turns of the loop, and makes
  /// these due. Whoever awaits it finds `offered_` up to date in the turn in which it returns.
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

  /// What of a NamespaceMap decides which NamespaceOffloadings touch it.
  struct Destination {
    std::string cluster;                        ///< to which it goes, "" = it does not go out
    std::set<std::string, std::less<>> spaces;  ///< the namespaces for which it asks
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
  std::unordered_map<std::string, core::HeldTwins> told_;     ///< by cluster: what was told of data
  std::unordered_map<std::string, kube::TimePoint> written_;  ///< by cluster: when its map was written last
  kube::Controller controller_;
};

}  // namespace liqo::controllers
