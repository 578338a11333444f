#include "webhook/configuration_plan.hpp"

#include "core/common/owner.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::webhook {
namespace {

bool belongs_to_role(const kube::Object& stored) {
  return core::is_owned_by(stored, api::kinds::cluster_roles, installation_role);
}

}  // namespace

bool is_as_wanted(const kube::Object& stored, const kube::Object& wanted) {
  return stored.label(api::labels::webhook) == "true" &&
         kube::array_at(stored.tree(), {"webhooks"}) == kube::array_at(wanted.tree(), {"webhooks"});
}

bool is_in_place(const kube::Object& stored, const kube::Object& wanted) {
  return belongs_to_role(stored) && is_as_wanted(stored, wanted);
}

ConfigurationPlan plan_configuration(std::optional<kube::Object> stored, kube::Object wanted,
                                     const std::optional<kube::Object>& role) {
  if (!stored) {
    if (!role) return AwaitRole{};
    if (auto owned = core::owned_by(wanted, *role)) wanted = std::move(*owned);
    return Create{std::move(wanted)};
  }
  if (is_as_wanted(*stored, wanted) && (!role || belongs_to_role(*stored))) return InPlace{};
  stored->set_label(api::labels::webhook, "true");
  stored->tree()["webhooks"] = std::move(wanted.tree()["webhooks"]);
  if (role)
    if (auto owned = core::owned_by(*stored, *role)) stored = std::move(owned);
  return Replace{std::move(*stored)};
}

}  // namespace liqo::webhook
