// The end of the pods of drained Tenants.
// Tested by test/unit/controllers/peering/tenant_upkeep_test.cpp and test/unit/controllers/peering/tenant_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Deletes the ShadowPods of a Tenant that is drained, and hurries pods that would outlive that. One thread.
class TenantDrain {
 public:
  /// `namespaces` outlive it.
  TenantDrain(const TenantNamespaces& namespaces, Context context);

  /// Makes the controller of Tenants wait for the pods, and work on drained Tenants that have some left to end. The
  /// controller watches Tenants already.
  void watched_by(kube::Controller& controller);
  /// Ends pods of the Tenant, if it is drained and does not keep them. Returns when to go on; nothing = every pod was
  /// looked at.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> go_on(kube::Object tenant);
  /// Forgets a Tenant that is gone.
  void forget(std::string_view uid);

 private:
  /// The drained Tenants that end a ShadowPod, or a pod, that has changed.
  std::vector<kube::ObjectKey> enders_of_shadow_pod(const kube::ObjectKey& shadow_pod) const;
  std::vector<kube::ObjectKey> enders_of_pod(const kube::ObjectKey& pod) const;
  /// The drained Tenants of the consumer of a twin namespace.
  std::vector<kube::ObjectKey> drained_of(std::string_view twin) const;
  /// The keys of objects in the twins of a consumer.
  std::vector<kube::ObjectKey> keys_in_twins(const kube::Informer& objects, std::string_view consumer) const;
  /// Whether the Tenant, as it is now, ends the pods of its consumer.
  bool ends_pods(const kube::Object& tenant) const;
  /// Deletes ShadowPods, some at a time. Returns when to look for others; nothing = all were looked at.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> delete_shadow_pods(kube::Object tenant);
  /// Hurries pods that take longer to end than the Tenant's policy allows.
  asio::awaitable<kube::Result<void>> shorten_grace(kube::Object tenant);
  std::int64_t max_grace(std::string_view tenant_namespace) const;

  const TenantNamespaces& namespaces_;
  Context context_;
  kube::InformerHandle tenants_, shadow_pods_, pods_, twins_;
  /// The last deleted ShadowPod of a Tenant, while some are left; by the UID.
  std::map<std::string, kube::ObjectKey, std::less<>> deleted_up_to_;
};

}  // namespace liqo::controllers
