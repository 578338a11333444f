// The right of consumers to see whether liqod runs here.
// Tested by test/unit/controllers/peering/tenant_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/telemetry/repeats.hpp"

namespace liqo::controllers {

/// Binds consumers to the role by which they may read the Lease of the leader here, and removes the binding of a
/// consumer that has no Tenant any more. The controller of Tenants works on these bindings, too, so that it reconciles
/// them after it has read all Tenants. One thread.
class LeaderBindings {
 public:
  /// All of these outlive it. `controller`: that of the `tenants`.
  LeaderBindings(const TenantNamespaces& namespaces, const kube::InformerHandle& tenants, kube::Controller& controller,
                 Context context);

  /// Whether the key is that of a binding, and not of a Tenant.
  static bool is_binding(const kube::WorkKey& work);
  /// Makes a binding due that has changed; one of another namespace is left alone.
  void see(const kube::ObjectKey& binding);
  /// Makes all bindings due: a Tenant is gone.
  void see_all();
  /// Lets the consumer of a Tenant read the Lease. If the API server refuses that, as with an older chart, no consumer
  /// is let do so for ten minutes, and the log has the failure.
  asio::awaitable<void> bind(std::string consumer);
  /// Removes the consumer's binding.
  asio::awaitable<kube::Result<void>> unbind(std::string consumer);
  /// Removes a binding whose consumer has no Tenant.
  asio::awaitable<kube::Outcome> reconcile(kube::ObjectKey binding);

 private:
  void enqueue(const kube::ObjectKey& binding);

  const TenantNamespaces& namespaces_;
  const kube::InformerHandle& tenants_;
  kube::Controller& controller_;
  Context context_;
  kube::Repeats logged_;            ///< why consumers cannot see the leader, as it was logged
  kube::TimePoint hidden_until_{};  ///< the binding was refused, and is not tried again before
  kube::Log log_{"tenant"};
};

}  // namespace liqo::controllers
