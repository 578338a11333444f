// Creates NamespaceOffloadings for namespaces whose labels the operator has selected.
#pragma once

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Offloads the namespaces that `NamespaceSettings::selected_namespaces` selects, and takes that back if their labels
/// are gone, or the selector has changed. NamespaceOffloadings that others have made are left alone. This controller
/// exists only if the operator has selected something: after the setting is removed, offloaded namespaces stay so. One
/// thread.
class SelectedNamespaces final : public Runnable {
 public:
  explicit SelectedNamespaces(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Outcome> offload(kube::Object ns);
  asio::awaitable<kube::Outcome> take_back(kube::Object offloading);

  Context context_;
  kube::InformerHandle namespaces_, offloadings_;
  kube::Log log_{"selectednamespaces"};
  kube::Controller controller_;
};

}  // namespace liqo::controllers
