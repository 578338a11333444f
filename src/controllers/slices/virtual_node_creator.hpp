// The consumer's half of a slice: makes a VirtualNode of what is granted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/links/provider_budget.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Keeps a VirtualNode of the slice's name for each slice whose identity and resources the provider has accepted, and
/// which does not say that it wants none. A slice that is denied later leaves its VirtualNode as it is. A deleted slice
/// is held until all VirtualNodes that use it are drained and gone, because they need its identity. One thread.
class VirtualNodeCreator final : public Runnable {
 public:
  /// `budgets` outlive it.
  VirtualNodeCreator(TenantNamespaces& namespaces, ProviderBudgets& budgets, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Enqueues the slices that a VirtualNode belongs to or belonged to, by its name, its label or its owner.
  void see_node(const kube::Change& node);
  /// Removes the VirtualNodes of a slice that is being deleted, and then releases the slice.
  asio::awaitable<kube::Outcome> end(kube::Object slice);
  /// `secret`: the kubeconfig of the slice.
  asio::awaitable<kube::Outcome> write_node(kube::Object slice, std::optional<kube::Object> existing,
                                            std::string secret);
  asio::awaitable<kube::Result<void>> remove_node(kube::Object virtual_node);
  /// The Secret of the slice's Identity, "" while there is none.
  std::string kubeconfig_secret_of(const kube::Object& slice) const;
  /// The VirtualNodes that were made of the slice or name it.
  std::vector<kube::Object> nodes_of(const kube::Object& slice) const;

  Context context_;
  TenantNamespaces& namespaces_;
  ProviderBudgets& budgets_;
  kube::InformerHandle slices_, identities_, virtual_nodes_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
