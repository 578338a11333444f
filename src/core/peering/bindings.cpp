// The role bindings of a peering (forge.hpp).
#include "core/common/bindings.hpp"
#include "core/common/owner.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/silence.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::core {
namespace {

namespace json = kube::json;

constexpr std::string_view service_account_prefix = "system:serviceaccount:";

void complete(kube::Object& binding, std::string_view role, json::object subject) {
  binding.set_label(api::labels::app_managed_by, api::labels::app_managed_by_liqo);
  binding.tree()["roleRef"] = make_role_ref(role);
  binding.tree()["subjects"] = json::array{std::move(subject)};
}

}  // namespace

kube::Object forge_role_binding(const kube::Object& tenant, std::string_view role) {
  const std::string_view consumer = api::Tenant(tenant).cluster_id();
  kube::Object binding =
      kube::Object::make(api::kinds::role_bindings, {std::string(tenant.ns()), role_binding_name(role)});
  complete(binding, role, make_subject("User", consumer));
  binding.set_label(api::labels::remote_cluster_id, consumer);
  binding.add_owner_reference(owner_of(tenant));
  return binding;
}

kube::Object forge_cluster_role_binding(std::string_view consumer, std::string_view role) {
  kube::Object binding =
      kube::Object::make(api::kinds::cluster_role_bindings, {"", cluster_role_binding_name(role, consumer)});
  complete(binding, role, make_subject("Group", consumer));
  binding.set_label(api::labels::remote_cluster_id, consumer);
  return binding;
}

kube::Object forge_leader_binding(std::string_view liqo_namespace, std::string_view consumer) {
  kube::Object binding =
      kube::Object::make(api::kinds::role_bindings,
                         {std::string(liqo_namespace), cluster_role_binding_name(remote_leader_role, consumer)});
  complete(binding, remote_leader_role, make_subject("User", consumer));
  binding.set_label(api::labels::remote_cluster_id, consumer);
  return binding;
}

kube::Object forge_own_binding(std::string_view ns, std::string_view user, std::string_view role) {
  kube::Object binding = kube::Object::make(api::kinds::role_bindings, {std::string(ns), std::string(role)});
  json::object subject = make_subject("User", user);
  const std::size_t colon = user.rfind(':');
  if (user.starts_with(service_account_prefix) && colon >= service_account_prefix.size()) {
    subject = json::object();
    subject["kind"] = "ServiceAccount";
    subject["name"] = json::string(user.substr(colon + 1));
    subject["namespace"] =
        json::string(user.substr(service_account_prefix.size(), colon - service_account_prefix.size()));
  }
  complete(binding, role, std::move(subject));
  return binding;
}

bool is_for_namesake(const kube::Object& binding, std::string_view consumer) {
  if (binding.label(api::labels::app_managed_by) == api::labels::app_managed_by_liqo ||
      binding.label(api::labels::remote_cluster_id) == consumer)
    return false;
  for (const json::value& subject : kube::array_at(binding.tree(), {"subjects"})) {
    const std::string_view kind = kube::string_at(subject, {"kind"});
    if ((kind == "User" || kind == "Group") && kube::string_at(subject, {"name"}) == consumer) return true;
  }
  return false;
}

}  // namespace liqo::core
