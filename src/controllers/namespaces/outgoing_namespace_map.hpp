// What this cluster, as consumer, asks of each provider: one NamespaceMap for all its namespaces.
#pragma once

#include <string>
#include <unordered_map>

#include "controllers/runnable.hpp"
#include "controllers/storage/remote_data_watch.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/view.hpp"
#include "liqo/controllers/context.hpp"
#include "liqo/core/namespaces/desired_mapping.hpp"
#include "liqo/core/namespaces/held_twins.hpp"

namespace liqo::controllers {

/// Keeps the NamespaceMap of a provider in its tenant namespace while VirtualNodes of that provider exist, and its
/// desiredMapping as all NamespaceOffloadings together want it. Twins that hold data of volumes stay asked for, also
/// when the last VirtualNode is gone. The key is the provider's cluster ID, so that trouble with one map delays no
/// other, and one write carries all its changes: the larger the map, the longer the pause between two. One thread.
class OutgoingNamespaceMapController final : public Runnable {
 public:
  explicit OutgoingNamespaceMapController(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override;
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

  Context context_;
  RemoteDataWatch data_;
  kube::InformerHandle virtual_nodes_, nodes_, offloadings_, maps_;
  kube::View<core::TwinRequest> requests_;           ///< of the NamespaceOffloadings
  kube::View<std::string> clusters_, destinations_;  ///< of VirtualNodes; of the maps that go out, "" of others
  std::unordered_map<std::string, core::TwinMemory> memory_;  ///< by cluster
  std::unordered_map<std::string, core::HeldTwins> told_;     ///< by cluster: what was told of data
  std::unordered_map<std::string, kube::TimePoint> written_;  ///< by cluster: when its map was written last
  kube::Controller controller_;
};

}  // namespace liqo::controllers
