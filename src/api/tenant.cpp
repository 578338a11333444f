#include "liqo/api/tenant.hpp"

#include "kube/base/base64.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::api {

std::string_view to_string(TenantCondition condition) {
  switch (condition) {
    case TenantCondition::active:
      return "Active";
    case TenantCondition::cordoned:
      return "Cordoned";
    case TenantCondition::drained:
      return "Drained";
  }
  return "";
}

TenantCondition Tenant::condition() const {
  const std::string_view word = kube::string_at(object_->spec(), {"tenantCondition"});
  if (word.empty() || word == "Active") return TenantCondition::active;
  return word == "Drained" ? TenantCondition::drained : TenantCondition::cordoned;
}

bool Tenant::keeps_pods() const { return object_->annotation(annotations::keep_pods) == "true"; }

std::string Tenant::bytes(std::string_view field) const {
  auto decoded = kube::decode_base64(kube::string_at(object_->spec(), {field}));
  return decoded ? std::move(*decoded) : std::string();
}

}  // namespace liqo::api
