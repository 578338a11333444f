// The consumer's half of the handshake: makes a kubeconfig Secret from the credentials in an Identity.
#pragma once

#include "controllers/peering/cluster_keys.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Keeps the Secret `kubeconfig-<identity>` of each Identity in the tenant namespace of its provider. Refuses
/// credentials that are not for this cluster's key, and a kubeconfig that could not be used safely. A Secret with that
/// name that belongs to something else is left alone. One thread.
class IdentityController final : public Runnable {
 public:
  IdentityController(TenantNamespaces& namespaces, ClusterKeys& keys, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  kube::Result<kube::Object> forge_secret(const kube::Object& identity) const;
  /// Returns false if a Secret that is not ours has the name.
  asio::awaitable<kube::Result<bool>> ensure_secret(const kube::Object& identity, kube::Object wanted);
  asio::awaitable<kube::Result<void>> write_status(const kube::Object& identity, std::string secret);

  Context context_;
  TenantNamespaces& namespaces_;
  ClusterKeys& keys_;
  kube::InformerHandle identities_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
