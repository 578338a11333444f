// Passes a renewed ControlPlane certificate on to its consumer: Tenant → Renew at the provider → Renew at the consumer
// → Identity. Replication does the middle step.
#pragma once

#include "controllers/links/provider_budget.hpp"
#include "controllers/peering/cluster_keys.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// At the consumer: keeps a Renew for each ControlPlane Identity, and copies the whole answer of the provider into the
/// Identity: certificate, CA, address and proxy. Each answer is copied once, so later changes of an operator stay until
/// the next answer. Answers that are not for this cluster's key are ignored. One thread.
class LocalRenewer final : public Runnable {
 public:
  /// `budgets` outlive it.
  LocalRenewer(TenantNamespaces& namespaces, ClusterKeys& keys, ProviderBudgets& budgets, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Outcome> take_answer(const kube::Object& identity, const kube::Object& renew);

  Context context_;
  TenantNamespaces& namespaces_;
  ClusterKeys& keys_;
  ProviderBudgets& budgets_;
  kube::InformerHandle identities_, renews_;
  kube::Controller controller_;
};

/// At the provider: copies the `authParams` of the Tenant into the replica of a Renew in the same namespace, whenever
/// any of them differs. One thread.
class RemoteRenewer final : public Runnable {
 public:
  RemoteRenewer(TenantNamespaces& namespaces, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);

  Context context_;
  TenantNamespaces& namespaces_;
  kube::InformerHandle tenants_, renews_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
