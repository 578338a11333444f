#include "core/slices/status.hpp"

#include <algorithm>

#include "core/common/declared_features.hpp"
#include "core/common/difference.hpp"
#include "core/common/home_names.hpp"
#include "core/common/set_or_erase.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

namespace conditions = api::slice_conditions;

std::optional<json::object> status_patch(const kube::Object& slice, const json::object& wanted) {
  json::object patch = difference(slice.status(), wanted);
  if (patch.empty()) return std::nullopt;
  return json::object{{"metadata", json::object{{"resourceVersion", slice.resource_version()}}},
                      {"status", std::move(patch)}};
}

void set_condition(const kube::Object& slice, json::object& status, const kube::Condition& wanted, kube::WallTime now) {
  if (auto changed = api::with_slice_condition(slice, wanted, now)) status["conditions"] = std::move(*changed);
}

json::array offered(const std::vector<OfferedClass>& classes, std::string_view name_key) {
  json::array out;
  for (const OfferedClass& one : classes) {
    json::object entry{{name_key, one.name}};
    if (one.is_default) entry["default"] = true;
    out.push_back(std::move(entry));
  }
  return out;
}

json::object node_labels(const SliceOffer& offer, const json::object& shown) {
  const SlicePolicy& policy = offer.policy;
  const Platform* platform = offer.platform;
  json::object labels;
  if (offer.home_names.value_or(knows_names_of_home(shown))) labels[api::labels::home_names] = "true";
  for (const auto& [key, said] :
       {std::pair<std::string_view, std::string Platform::*>{"kubernetes.io/os", &Platform::os},
        {"kubernetes.io/arch", &Platform::architecture},
        {api::labels::provider_zone, &Platform::zone},
        {api::labels::provider_region, &Platform::region}}) {
    const std::string value = platform ? platform->*said : std::string(kube::string_at(shown, {key}));
    if (!value.empty()) labels[key] = value;
  }
  for (const std::string& feature : platform ? platform->features : features_of(shown))
    labels[feature_key(feature)] = "true";
  for (const auto& [name, value] : policy.cluster_labels) {
    // By another value the operator keeps a feature back: consumers would refuse the label, and report that.
    if (is_feature_key(name) && !is_feature_label(name, value))
      labels.erase(name);
    else
      labels[name] = value;
  }
  return labels;
}

}  // namespace

json::array offered_storage_classes(const std::vector<kube::Object>& classes, const SlicePolicy& policy) {
  std::vector<OfferedClass> found;
  for (const kube::Object& one : classes) {
    // Volumes of Liqo's own class may lie in third clusters.
    if (kube::string_at(one.tree(), {"provisioner"}) == api::storage_provisioner) continue;
    const bool marked = one.annotation("storageclass.kubernetes.io/is-default-class") == "true";
    found.push_back({.name = std::string(one.name()),
                     .is_default = policy.storage_class.empty() ? marked : one.name() == policy.storage_class});
  }
  std::ranges::sort(found, {}, &OfferedClass::name);
  return offered(found, "storageClassName");
}

std::optional<json::object> plan_slice_status(const kube::Object& slice, const GrantPlan& plan, const SliceOffer& offer,
                                              kube::WallTime now) {
  const auto* accept = std::get_if<grant_action::Accept>(&plan);
  const auto* deny = std::get_if<grant_action::Deny>(&plan);
  if (!accept && !deny) return std::nullopt;
  json::object status = slice.status();
  if (accept) {
    auto written = read_resources(kube::object_at(status, {"resources"}));
    if (!written || *written != accept->record.granted || !status.contains("resources"))
      status["resources"] = write_resources(accept->record.granted);
    const ReadPolicy& policy = offer.policy;
    // An empty list is left out, as the Go version does: otherwise both versions would undo each other's write. What is
    // not known stays as it was written.
    if (policy.is_known(policy_settings::storage) && policy.is_known(policy_settings::storage_class_name))
      set_or_erase(status, "storageClasses", offer.storage_classes);
    if (policy.is_known(policy_settings::ingress))
      set_or_erase(status, "ingressClasses", offered(policy.ingress_classes, "ingressClassName"));
    if (policy.is_known(policy_settings::load_balancers))
      set_or_erase(status, "loadBalancerClasses", offered(policy.load_balancer_classes, "loadBalancerClassName"));
    if (policy.is_known(policy_settings::labels))
      set_or_erase(status, "nodeLabels", node_labels(offer, kube::object_at(status, {"nodeLabels"})));
  }
  set_condition(slice, status,
                {.type = conditions::resources,
                 .status = accept ? conditions::accepted : conditions::denied,
                 .reason = accept ? accept->reason : deny->reason,
                 .message = accept ? accept->message : deny->message},
                now);
  return status_patch(slice, status);
}

std::optional<json::object> plan_slice_restore(const kube::Object& slice, bool granted, kube::WallTime now) {
  const auto shown = api::ResourceSlice(slice).condition(conditions::resources);
  if (!shown || (shown->reason != slice_reasons::tenant_cordoned && shown->reason != slice_reasons::tenant_drained))
    return std::nullopt;
  json::object status = slice.status();
  if (granted) {
    set_condition(slice, status,
                  {.type = conditions::resources,
                   .status = conditions::accepted,
                   .reason = slice_reasons::resources_accepted,
                   .message = slice_accepted_message},
                  now);
  } else if (auto rest = api::without_slice_condition(slice, conditions::resources)) {
    set_or_erase(status, "conditions", std::move(*rest));
  }
  return status_patch(slice, status);
}

std::optional<json::object> plan_slice_authentication(const kube::Object& slice, bool accepted,
                                                      const json::object* auth_params, kube::WallTime now) {
  json::object status = slice.status();
  if (auth_params) status["authParams"] = *auth_params;
  set_condition(slice, status,
                {.type = conditions::authentication,
                 .status = accepted ? conditions::accepted : conditions::denied,
                 .reason = accepted ? slice_reasons::authentication_accepted : slice_reasons::authentication_denied,
                 .message = accepted ? "ResourceSlice authentication accepted" : "ResourceSlice authentication denied"},
                now);
  return status_patch(slice, status);
}

}  // namespace liqo::core
