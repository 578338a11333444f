#include "liqo/core/slice/cordon.hpp"

#include "liqo/api/labels.hpp"

namespace liqo::core {

TenantState tenant_state(const kube::Object& tenant) {
  const std::string_view said = kube::string_at(tenant.spec(), {"tenantCondition"});
  if (said.empty() || said == "Active") return TenantState::active;
  return said == "Drained" ? TenantState::drained : TenantState::cordoned;
}

bool is_cordoned(const kube::Object& slice) {
  for (const std::string_view mark :
       {api::annotations::cordon, api::annotations::cordon_tenant, api::annotations::cordoned_resource}) {
    if (!slice.has_annotation(mark)) continue;
    const std::string_view value = slice.annotation(mark);
    if (value != "false" && value != "False" && value != "0") return true;
  }
  return false;
}

}  // namespace liqo::core
