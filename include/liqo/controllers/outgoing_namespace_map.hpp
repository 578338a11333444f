// What this cluster, as consumer, asks of each provider: one NamespaceMap for all its namespaces.
#pragma once

#include <string>
#include <unordered_map>

#include "kube/runtime/controller.hpp"
#include "liqo/controllers/context.hpp"
#include "liqo/controllers/runnable.hpp"
#include "liqo/core/namespace/desired_mapping.hpp"

namespace liqo::controllers {

/// Keeps the NamespaceMap of a provider in its tenant namespace while VirtualNodes of that provider exist, and its
/// desiredMapping as all NamespaceOffloadings together want it. The key is the provider's cluster ID, so that trouble
/// with one map delays no other, and one write carries all its changes. One thread.
class OutgoingNamespaceMapController final : public Runnable {
 public:
  OutgoingNamespaceMapController(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override;
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  asio::awaitable<kube::Outcome> create(kube::ObjectKey key, std::string cluster, core::WantedTwins wanted);
  /// Tells of the twins that stay for a while only, and looks again when the first of them goes.
  kube::Outcome tell_leaving(std::string_view cluster, const core::TwinWish& wish,
                             const core::WantedTwins& twins) const;
  void enqueue(std::string_view cluster);
  void enqueue_all();

  Context context_;
  kube::InformerHandle virtual_nodes_, nodes_, offloadings_, maps_;
  std::unordered_map<kube::ObjectKey, std::string> clusters_;          ///< of each VirtualNode, also after its end
  std::unordered_map<kube::ObjectKey, std::string> node_labels_;       ///< of each Node, as text, when seen last
  std::unordered_map<kube::ObjectKey, std::string> seen_offloadings_;  ///< what counts here of each
  std::unordered_map<std::string, core::TwinMemory> memory_;           ///< by cluster
  kube::Controller controller_;
};

}  // namespace liqo::controllers
