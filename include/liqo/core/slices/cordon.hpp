// Whether an operator of the provider has cordoned or drained a consumer or one of its slices.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// `spec.tenantCondition` of a Tenant.
enum class TenantState {
  active,
  cordoned,  ///< what is granted stays, nothing is granted anew
  drained,   ///< nothing is granted
};

/// Absent and "" are active, unknown values are cordoned: a typing error never grants.
TenantState tenant_state(const kube::Object& tenant);

/// Whether the slice carries one of the cordon marks: an annotation with any value but "false", "False" and "0".
bool is_cordoned(const kube::Object& slice);
/// Whether the slice carries the drain mark, read likewise.
bool is_drained(const kube::Object& slice);

}  // namespace liqo::core
