#include "core/admission/claims.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/admission/check_orders.hpp"
#include "core/admission/tenant_rules.hpp"
#include "kube/base/printable.hpp"

namespace liqo::core::admission {
namespace {

/// The older way to name a class. Kubernetes prefers it to the field.
constexpr std::string_view class_annotation = "volume.beta.kubernetes.io/storage-class";

bool may_use(std::string_view name, const PodPolicy& policy, std::span<const std::string> offered) {
  if (policy.storage_classes) return lists(*policy.storage_classes, name);
  return std::ranges::find(offered, name) != offered.end();
}

/// What is wrong with the class of `claim`: a PersistentVolumeClaim, or the template of one.
std::optional<Finding> check_class(const json::object& claim, const PodPolicy& policy,
                                   std::span<const std::string> offered) {
  constexpr std::string_view not_offered =
      "is not among the storage classes that the tenant is offered; storageClasses in the policy names others";
  const json::value* field = kube::find(claim, {"spec", "storageClassName"});
  if (kube::find(claim, {"metadata", "annotations", class_annotation}))
    return Finding{"metadata.annotations " + std::string(class_annotation),
                   "hides the class of the claim; name it in spec.storageClassName"};
  if (!field || field->is_null()) {
    // A claim without the field gets the cluster's default class, which is on offer wherever any class is.
    if (policy.storage_classes ? lists(*policy.storage_classes, "") : !offered.empty()) return std::nullopt;
    return Finding{"spec.storageClassName",
                   "is missing, and the cluster's default is not offered to the tenant; "
                   "storageClasses in the policy names the classes that it may use"};
  }
  const std::string_view name = field->is_string() ? std::string_view(field->get_string()) : "";
  if (name.empty()) {
    // A claim with an empty class binds to any volume without one, whoever's that is, so a policy has to list ""
    // itself: "*" stands for names only.
    if (policy.storage_classes && std::ranges::find(*policy.storage_classes, "") != policy.storage_classes->end())
      return std::nullopt;
    return Finding{"spec.storageClassName \"\"", "takes a volume that may be anybody's; name a storage class"};
  }
  if (may_use(name, policy, offered)) return std::nullopt;
  return Finding{"spec.storageClassName " + kube::in_quotes(name), std::string(not_offered)};
}

const json::object* template_of(const json::value& volume) {
  const json::value* found = kube::find(volume, {"ephemeral", "volumeClaimTemplate"});
  return found ? found->if_object() : nullptr;
}

std::vector<Finding> look_at(const kube::Object& claim, const PodPolicy& policy, std::span<const std::string> offered,
                             std::size_t max_found) {
  std::vector<Finding> found = check_claim_fields(claim.spec(), policy, "spec", max_found);
  if (auto finding = check_class(claim.tree(), policy, offered); finding && found.size() < max_found)
    found.push_back(std::move(*finding));
  return found;
}

}  // namespace

Answer check_claim(const Request& request, std::string_view consumer, const PodPolicy& policy,
                   std::span<const std::string> offered) {
  if (!request.writes_object() || !is_of_consumer(request.user, consumer)) return Answer::allow();
  const bool updates = request.operation == Operation::update;
  const std::size_t max_found = updates ? all_findings : max_findings;
  std::vector<Finding> found = look_at(request.object, policy, offered, max_found);
  if (updates) keep_new(found, look_at(request.old_object, policy, offered, max_found));
  std::ranges::move(find_orders(request, TwinKind::claim, policy, max_findings), std::back_inserter(found));
  if (found.empty()) return Answer::allow();
  return Answer::deny(known_as(request, "PersistentVolumeClaim") + " may not be in this cluster: " + describe(found));
}

bool has_claim_templates(const json::object& pod_spec) {
  return std::ranges::any_of(kube::array_at(pod_spec, {"volumes"}),
                             [](const json::value& volume) { return template_of(volume) != nullptr; });
}

std::vector<Finding> check_claim_templates(const json::object& pod_spec, const PodPolicy& policy,
                                           std::span<const std::string> offered) {
  std::vector<Finding> found;
  const json::array& volumes = kube::array_at(pod_spec, {"volumes"});
  for (std::size_t i = 0; i < volumes.size() && found.size() < max_findings; ++i) {
    const json::object* claim = template_of(volumes[i]);
    auto finding = claim ? check_class(*claim, policy, offered) : std::nullopt;
    if (!finding) continue;
    finding->path.insert(0, "spec.volumes[" + std::to_string(i) + "].ephemeral.volumeClaimTemplate.");
    found.push_back(std::move(*finding));
  }
  return found;
}

}  // namespace liqo::core::admission
