// The provider's half of a slice: the identity of its pods.
#pragma once

#include <string>

#include "controllers/peering/certificate_issuer.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "core/peering/checked_requests.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Has a certificate issued and renewed for every slice that a consumer has sent, and reports in the condition
/// "Authentication". A request that asks for more or something else is Denied. Failures for other reasons are tried
/// again, and are not held against the consumer. One thread.
class SliceIdentityController final : public Runnable {
 public:
  SliceIdentityController(TenantNamespaces& namespaces, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Result<void>> answer(kube::ObjectKey key, std::string uid, bool accepted,
                                             const kube::json::object* auth_params);

  Context context_;
  TenantNamespaces& namespaces_;
  CertificateIssuer issuer_;
  kube::InformerHandle slices_, tenants_;
  core::CheckedRequests checked_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
