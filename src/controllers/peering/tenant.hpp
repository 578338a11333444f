// The provider's half of the handshake: gives the consumer of a Tenant a certificate and rights, and enforces the
// Tenant's condition.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controllers/peering/certificate_issuer.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/telemetry/repeats.hpp"
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
  /// Lets the consumer read the Lease of the leader here, or stops it from doing so.
  asio::awaitable<void> let_see_leader(std::string consumer);
  asio::awaitable<kube::Result<void>> forget_leader(std::string consumer);
  /// Removes the binding by which a consumer without a Tenant still may read it.
  asio::awaitable<kube::Outcome> forget_leftover(kube::ObjectKey key);
  /// Whether the key is that of such a binding, and not of a Tenant.
  static bool is_of_leader(const kube::WorkKey& work);
  void see_binding_to_leader(const kube::ObjectKey& key);
  void see_bindings_to_leader();
  /// Whether the Tenant is not the one that counts in its namespace; if so, an Event reports it.
  bool is_misplaced(const kube::Object& tenant);
  /// Cordons or drains, as the Tenant asks; returns when to look again for pods that have to end.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> enforce_condition(kube::Object tenant);
  /// Whether a user of this cluster has the consumer's name, for which the Tenant is refused.
  asio::awaitable<kube::Result<bool>> has_namesake(kube::Object tenant);
  /// Returns when to renew; nothing if the Tenant was refused, or waits for something whose change enqueues it.
  asio::awaitable<kube::Result<std::optional<kube::WallTime>>> admit(kube::Object tenant);
  /// The binding that shows that a user of this cluster has the consumer's name already, for the log; "" if there is
  /// none. Bindings in namespaces of the consumer are the consumer's.
  asio::awaitable<kube::Result<std::string>> find_namesake(std::string consumer);
  asio::awaitable<kube::Result<void>> write_status(const kube::ObjectKey& key,
                                                   std::optional<kube::json::object> params);
  asio::awaitable<kube::Result<void>> mark_slices(std::string ns, std::string peer, bool cordoned);
  /// The keys of objects in the twins of a consumer.
  std::vector<kube::ObjectKey> keys_in_twins(const kube::Informer& objects, std::string_view peer) const;
  /// Whether the Tenant, as it is now, ends the pods of its consumer.
  bool ends_pods(const kube::Object& tenant) const;
  /// Deletes the consumer's ShadowPods, some at a time. Returns when to look for others; nothing = all were looked at.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> delete_shadow_pods(kube::Object tenant);
  /// Hurries pods of a drained tenant that take longer to end than its policy allows.
  asio::awaitable<kube::Result<void>> shorten_grace(kube::Object tenant);
  std::int64_t drain_grace(std::string_view tenant_namespace) const;
  static bool outlives_drain(const kube::Object& pod, std::int64_t max_grace);
  /// Cordons a tenant that has been silent for too long, if that is configured; returns when to look again.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> watch_heartbeat(kube::Object tenant);
  /// When the present heartbeat of the Lease was first seen, as far as that is known.
  kube::WallTime heartbeat_seen(const kube::Object& tenant, const kube::Object& lease, kube::WallTime now);
  /// Records the heartbeat on the Tenant, if there is a patch: at most once in the time between two heartbeats.
  asio::awaitable<kube::Result<void>> keep_heartbeat(kube::Object tenant, std::optional<kube::json::object> patch);
  asio::awaitable<kube::Result<void>> remove_replicas(std::string ns, std::string peer);

  /// The Tenants of a namespace, oldest first.
  std::vector<kube::Object> tenants_of(std::string_view ns) const;
  bool has_other_tenant(const kube::Object& tenant) const;
  void refuse(const kube::Object& tenant, std::string_view reason, std::string text);
  /// Logs the condition of a Tenant if it has changed since it was last logged.
  void report_condition(const kube::Object& tenant);
  /// Logs the binding for which a Tenant is refused, if it has changed since it was last logged.
  void report_namesake(const kube::Object& tenant, std::string binding);
  /// Sends Warnings on a Tenant and its namespace about a policy that cannot be parsed: for each reason once in half an
  /// hour.
  void report_policy(const kube::Object& tenant);
  void see_slice(const kube::ObjectKey& key);
  void see_shadow_pod(const kube::ObjectKey& key);
  void see_pod(const kube::ObjectKey& key);

  Context context_;
  TenantNamespaces& namespaces_;
  CertificateIssuer issuer_;
  kube::InformerHandle tenants_, slices_, shadow_pods_, pods_, consumer_namespaces_, cluster_bindings_;
  kube::Log log_{"tenant"};
  std::map<std::string, api::TenantCondition, std::less<>> reported_conditions_;  ///< as they were logged, by the UID
  std::map<std::string, std::string, std::less<>> reported_namesakes_;            ///< bindings in the log, by the UID
  kube::Repeats logged_leader_;            ///< why consumers cannot see the leader, as it was logged
  kube::TimePoint leader_hidden_until_{};  ///< the binding was refused, and is not tried again before
  struct Heartbeat {
    std::string time;  ///< as the consumer has written it
    kube::WallTime seen{};
    kube::TimePoint kept_next{};  ///< when it may be recorded on the Tenant again
  };
  std::map<std::string, Heartbeat, std::less<>> heartbeats_;  ///< the last of each, by the UID
  /// Why a policy is unreadable, and until when that need not be reported again; by the UID.
  std::map<std::string, std::pair<std::string, kube::TimePoint>, std::less<>> reported_policies_;
  /// The last deleted ShadowPod of a drained Tenant, while some are left; by the UID.
  std::map<std::string, kube::ObjectKey, std::less<>> deleted_up_to_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
