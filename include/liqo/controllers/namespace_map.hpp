// The provider's half of namespace extension: what consumers ask for in NamespaceMaps → twin namespaces with rights.
#pragma once

#include <map>
#include <string>

#include "kube/runtime/controller.hpp"
#include "liqo/controllers/context.hpp"
#include "liqo/controllers/runnable.hpp"
#include "liqo/core/namespace/twin_plan.hpp"

namespace liqo::controllers {

/// Guarantees: a consumer gets rights only in namespaces that were made for it; what a map does not ask for any more
/// goes, also where its status has forgotten it, because the mark on the namespace counts; every entry of every map is
/// tried, and what fails is told in the status and tried again. One thread.
class NamespaceMapController final : public Runnable {
 public:
  NamespaceMapController(const asio::any_io_executor& executor, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override {
    return maps_->has_synced() && namespaces_->has_synced() && bindings_->has_synced();
  }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  using Entries = std::map<std::string, api::MappedNamespace>;
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// Makes or corrects one twin with its RoleBinding; answers its entry of the status. A failure that may pass by
  /// itself is added to `failures`.
  asio::awaitable<api::MappedNamespace> ensure_twin(api::WantedNamespace wanted, core::TwinContext ctx,
                                                    std::string phase_before, std::string& failures);
  asio::awaitable<kube::Result<void>> ensure_binding(std::string twin, core::TwinContext ctx);
  /// Deletes the twins of the map that nobody wants; those that still exist are added to `entries`.
  asio::awaitable<void> remove_twins(core::TwinContext ctx, std::vector<api::WantedNamespace> wanted, Entries& entries,
                                     std::string& failures);
  std::vector<kube::Object> twins_of(const kube::ObjectKey& map) const;
  void enqueue(const kube::ObjectKey& map);
  void enqueue_marked(std::string_view map_id);

  Context context_;
  kube::InformerHandle maps_, namespaces_, bindings_;
  std::map<std::string, std::string> marked_;  ///< namespace to the map that it was made for, also after its end
  kube::Controller controller_;
};

}  // namespace liqo::controllers
