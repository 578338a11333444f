#include "liqo/core/admission/claims.hpp"

#include <algorithm>

#include "liqo/core/admission/tenant_rules.hpp"
#include "liqo/core/quoted.hpp"

namespace liqo::core::admission {
namespace {

/// The older way to name a class, which goes before the field.
constexpr std::string_view class_annotation = "volume.beta.kubernetes.io/storage-class";

bool may_use(std::string_view name, const PodPolicy& policy, std::span<const std::string> offered) {
  if (policy.storage_classes) return lists(*policy.storage_classes, name);
  return std::ranges::find(offered, name) != offered.end();
}

/// `claim` has metadata and a spec: a claim, or the template of one.
void check_class(const json::object& claim, const std::string& path, const PodPolicy& policy,
                 std::span<const std::string> offered, std::vector<Finding>& found, std::size_t most) {
  const auto report = [&](std::string field, std::string_view reason) {
    if (found.size() < most) found.push_back({path + std::move(field), std::string(reason)});
  };
  constexpr std::string_view not_offered =
      "is not among the storage classes that the tenant is offered; storageClasses in the policy names others";
  const json::value* field = kube::find(claim, {"spec", "storageClassName"});
  if (kube::find(claim, {"metadata", "annotations", class_annotation}))
    report("metadata.annotations " + std::string(class_annotation),
           "hides the class of the claim; name it in spec.storageClassName");
  else if (!field || field->is_null()) {
    // The default class of the cluster, which is among those on offer where any is.
    if (policy.storage_classes ? !lists(*policy.storage_classes, "") : offered.empty())
      report("spec.storageClassName",
             "is missing, and the cluster's default is not offered to the tenant; "
             "storageClasses in the policy names the classes that it may use");
  } else if (const std::string_view name = field->is_string() ? std::string_view(field->get_string()) : "";
             name.empty()) {
    // Without a class a claim takes any volume that has none, whoever's it is. "*" stands for names.
    if (!policy.storage_classes || std::ranges::find(*policy.storage_classes, "") == policy.storage_classes->end())
      report("spec.storageClassName \"\"", "takes a volume that may be anybody's; name a storage class");
  } else if (!may_use(name, policy, offered)) {
    report("spec.storageClassName " + in_quotes(name), not_offered);
  }
}

const json::object* template_of(const json::value& volume) {
  const json::value* found = kube::find(volume, {"ephemeral", "volumeClaimTemplate"});
  return found ? found->if_object() : nullptr;
}

std::vector<Finding> look_at(const kube::Object& claim, const PodPolicy& policy, std::span<const std::string> offered,
                             std::size_t most) {
  std::vector<Finding> found = check_claim_fields(claim.spec(), policy, "spec", most);
  check_class(claim.tree(), "", policy, offered, found, most);
  return found;
}

}  // namespace

Answer check_claim(const Request& request, std::string_view consumer, const PodPolicy& policy,
                   std::span<const std::string> offered) {
  if (!request.writes_object() || !is_of_consumer(request.user, consumer)) return Answer::allow();
  const bool updates = request.operation == Operation::update;
  const std::size_t most = updates ? all_findings : max_findings;
  std::vector<Finding> found = look_at(request.object, policy, offered, most);
  if (updates) keep_new(found, look_at(request.old_object, policy, offered, most));
  if (found.empty()) return Answer::allow();
  return Answer::deny("PersistentVolumeClaim " + request.name + " may not be in this cluster: " + describe(found));
}

bool has_claim_templates(const json::object& pod_spec) {
  return std::ranges::any_of(kube::array_at(pod_spec, {"volumes"}),
                             [](const json::value& volume) { return template_of(volume) != nullptr; });
}

std::vector<Finding> check_claim_templates(const json::object& pod_spec, const PodPolicy& policy,
                                           std::span<const std::string> offered) {
  std::vector<Finding> found;
  const json::array& volumes = kube::array_at(pod_spec, {"volumes"});
  for (std::size_t i = 0; i < volumes.size(); ++i)
    if (const json::object* claim = template_of(volumes[i]))
      check_class(*claim, "spec.pod.volumes[" + std::to_string(i) + "].ephemeral.volumeClaimTemplate.", policy, offered,
                  found, max_findings);
  return found;
}

std::vector<std::string> offered_classes(std::span<const kube::Object> slices) {
  std::vector<std::string> names;
  for (const kube::Object& slice : slices)
    for (const json::value& entry : kube::array_at(slice.status(), {"storageClasses"}))
      if (const std::string_view name = kube::string_at(entry, {"storageClassName"}); !name.empty())
        names.emplace_back(name);
  return names;
}

}  // namespace liqo::core::admission
