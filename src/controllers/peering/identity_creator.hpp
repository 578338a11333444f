// The consumer's half of a slice: makes an Identity from the certificate that the provider has signed.
// Tested by test/unit/controllers/peering/identity_test.cpp.
#pragma once

#include <string_view>

#include "controllers/links/provider_budget.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Keeps the Identity `resourceslice-<slice>` of each slice whose authentication the provider has accepted, and removes
/// it if the provider denies the slice. One thread.
class IdentityCreator final : public Runnable {
 public:
  /// `budgets` outlive it.
  IdentityCreator(TenantNamespaces& namespaces, ProviderBudgets& budgets, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);

  Context context_;
  TenantNamespaces& namespaces_;
  ProviderBudgets& budgets_;
  kube::InformerHandle slices_, identities_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
