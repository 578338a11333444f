// The provider's half of the handshake: gives the consumer of a Tenant a certificate and rights, and enforces the
// Tenant's condition.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/peering/certificate_issuer.hpp"
#include "controllers/peering/consumer_namesakes.hpp"
#include "controllers/peering/leader_bindings.hpp"
#include "controllers/peering/tenant_drain.hpp"
#include "controllers/peering/tenant_heartbeat.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "controllers/peering/tenant_policies.hpp"
#include "kube/runtime/controller.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::controllers {

/// For each Tenant in the tenant namespace of its consumer (one per namespace, the oldest): checks the handshake, has
/// the ControlPlane certificate issued and renewed, and keeps the status, the role bindings and the cordon marks of the
/// consumer's slices.
///
/// Guarantees: a drained Tenant loses its ShadowPods, and their pods in a bounded time, unless it is annotated
/// `liqo.io/keep-pods: "true"`. It keeps its slices, namespaces and rights, so that its consumer sees why, and resumes
/// when it is activated.
///
/// Lifetime: a deleted Tenant loses its rights first, then its replicas. One thread.
class TenantController final : public Runnable {
 public:
  TenantController(TenantNamespaces& namespaces, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Records on the tenant namespace what the provider has decided about the consumer.
  asio::awaitable<kube::Result<void>> keep_decisions(kube::Object tenant);
  asio::awaitable<kube::Outcome> tear_down(kube::Object tenant, std::string peer);
  /// Whether the Tenant is not the one that counts in its namespace; if so, an Event reports it.
  bool is_misplaced(const kube::Object& tenant);
  /// Cordons or drains, as the Tenant asks; returns when to look again for pods that have to end.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> enforce_condition(kube::Object tenant);
  /// Returns when to renew; nothing if the Tenant was refused, or waits for something whose change enqueues it.
  asio::awaitable<kube::Result<std::optional<kube::WallTime>>> admit(kube::Object tenant);
  asio::awaitable<kube::Result<void>> write_status(const kube::ObjectKey& key,
                                                   std::optional<kube::json::object> params);
  asio::awaitable<kube::Result<void>> mark_slices(std::string ns, std::string peer, bool cordoned);
  asio::awaitable<kube::Result<void>> remove_replicas(std::string ns, std::string peer);

  /// The Tenants of a namespace, oldest first.
  std::vector<kube::Object> tenants_of(std::string_view ns) const;
  bool has_other_tenant(const kube::Object& tenant) const;
  void refuse(const kube::Object& tenant, std::string_view reason, std::string text);
  /// Logs the condition of a Tenant if it has changed since it was last logged.
  void report_condition(const kube::Object& tenant);
  void see_slice(const kube::ObjectKey& key);
  /// Forgets a Tenant that is gone.
  void forget(std::string_view uid);

  Context context_;
  TenantNamespaces& namespaces_;
  CertificateIssuer issuer_;
  kube::InformerHandle tenants_, slices_, consumer_namespaces_, cluster_bindings_;
  kube::Log log_{"tenant"};
  std::map<std::string, api::TenantCondition, std::less<>> reported_conditions_;  ///< as they were logged, by the UID
  ConsumerNamesakes namesakes_;
  TenantDrain drain_;
  TenantHeartbeat heartbeat_;
  TenantPolicies policies_;
  kube::Controller controller_;
  LeaderBindings leader_bindings_;
};

}  // namespace liqo::controllers
