// Reports of policies for consumers that have an error.
// Tested by test/unit/controllers/peering/tenant_upkeep_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/common/context.hpp"
#include "controllers/peering/tenant_namespace.hpp"

namespace liqo::controllers {

/// Sends Warnings on a Tenant and its namespace about a policy that cannot be parsed, or forbids nothing by one of its
/// names: for each reason once in half an hour. One thread.
class TenantPolicies {
 public:
  /// `namespaces` outlive it.
  TenantPolicies(const TenantNamespaces& namespaces, Context context);

  /// Reports the policy of the Tenant, if that is due. Returns when it is due again; nothing = the policy has no error.
  std::optional<kube::Duration> report(const kube::Object& tenant);
  /// Forgets a Tenant that is gone.
  void forget(std::string_view uid);

 private:
  struct Report {
    std::string why;
    kube::TimePoint quiet_until{};  ///< need not be sent again before
  };

  const TenantNamespaces& namespaces_;
  Context context_;
  kube::InformerHandle consumer_namespaces_;
  std::map<std::string, Report, std::less<>> reported_;  ///< by the UID of the Tenant
  kube::Log log_{"tenant"};
};

}  // namespace liqo::controllers
