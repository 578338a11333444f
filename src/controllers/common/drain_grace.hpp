// The grace period of pods that the provider ends.
#pragma once

#include <cstdint>
#include <string_view>

#include "controllers/common/tenant_namespace_of.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/policy/pod_policy.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::controllers {

/// The seconds of a policy that is annotated on a tenant namespace. A policy that cannot be parsed counts as the
/// default one.
inline std::int64_t drain_grace_of(std::string_view policy) {
  return core::read_pod_policy(policy).value_or(core::PodPolicy()).max_drain_grace_seconds;
}

/// The seconds for the pods of a twin namespace. `namespaces` has the index core::tenants_by_cluster.
inline std::int64_t drain_grace(const kube::Store& namespaces, std::string_view twin) {
  const auto ns = namespaces.find({"", std::string(twin)});
  const auto tenant = namespaces.find({"", tenant_namespace_of(namespaces, ns ? core::consumer_of_twin(*ns) : "")});
  return drain_grace_of(tenant ? tenant->annotation(api::annotations::pod_policy) : "");
}

}  // namespace liqo::controllers
