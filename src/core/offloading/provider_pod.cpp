#include "core/offloading/provider_pod.hpp"

#include <algorithm>
#include <iterator>

#include "core/common/digest.hpp"
#include "core/common/json_values.hpp"
#include "core/common/meta.hpp"
#include "core/common/owner.hpp"
#include "core/offloading/label_keys.hpp"
#include "core/offloading/left_out.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/resize.hpp"
#include "core/policy/kept_metadata.hpp"
#include "core/policy/orders.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// The fields of a pod's spec that may change while it lives, as a strategic merge patch.
json::object mutable_spec(const json::object& spec) {
  json::object changing;
  for (std::string_view list : {"containers", "initContainers"}) {
    json::array images;
    for (const json::value& container : kube::array_at(spec, {list}))
      images.push_back(json::object{{"name", kube::string_at(container, {"name"})},
                                    {"image", kube::string_at(container, {"image"})}});
    if (!images.empty()) changing[list] = std::move(images);
  }
  if (const json::value* deadline = kube::find(spec, {"activeDeadlineSeconds"}); deadline && !deadline->is_null())
    changing["activeDeadlineSeconds"] = *deadline;
  if (const json::array& tolerations = kube::array_at(spec, {"tolerations"}); !tolerations.empty())
    changing["tolerations"] = tolerations;
  return changing;
}

std::string mutable_digest(const api::ShadowPod& shadow) {
  return digest_hex(json::serialize(mutable_spec(shadow.pod_spec())));
}

KeptLabels pod_labels(const kube::Object& shadow, const PodPolicy& policy) {
  KeptLabels labels = kept_labels(shadow, policy);
  labels.kept[api::labels::managed_by] = api::labels::managed_by_shadow_pod;
  if (!shadow.uid().empty()) labels.kept[api::labels::shadow_pod_uid] = shadow.uid();
  return labels;
}

/// Adds what a running pod has of the ShadowPod's entries: earlier versions or policies let it in.
void keep_present(json::object& wanted, const json::object& of_shadow, const json::object& of_pod) {
  for (const auto& [key, value] : of_shadow)
    if (const json::value* have = of_pod.if_contains(key); have && !wanted.contains(key)) wanted[key] = *have;
}

KeptAnnotations pod_annotations(const kube::Object& shadow, const PodPolicy& policy) {
  KeptAnnotations annotations = kept_annotations(shadow, policy);
  for (std::string_view key :
       {api::annotations::last_applied, api::annotations::ordered_at, api::annotations::left_out,
        api::annotations::ephemeral_left_out, api::annotations::refused, api::annotations::applied_resources,
        api::annotations::resize_refused, api::annotations::priority_class, api::annotations::missing_topology_keys})
    annotations.kept.erase(key);
  annotations.kept[api::annotations::applied_spec] = mutable_digest(api::ShadowPod(shadow));
  return annotations;
}

/// An image that a node has for somebody else must not run without the registry's consent, so it is always pulled.
void pull_always(json::object& spec) {
  for (std::string_view list : {"containers", "initContainers"})
    for_each_object(spec, list, [](json::object& container) { container["imagePullPolicy"] = "Always"; });
  for_each_object(spec, "volumes", [](json::object& volume) {
    if (json::object* image = object_in(volume, "image")) (*image)["pullPolicy"] = "Always";
  });
}

/// PriorityClasses are those of one cluster: the policy maps the consumer's class to one here. Returns false if it maps
/// to none.
bool map_priority(json::object& spec, std::string_view of_consumer, const PodPolicy& policy) {
  if (of_consumer.empty() || !kube::string_at(spec, {"priorityClassName"}).empty()) return true;
  const std::string_view name = mapped_priority_class(policy, of_consumer);
  if (name.empty()) return false;
  spec["priorityClassName"] = name;
  // The API server derives both from the class, and refuses a pod that contradicts it.
  spec.erase("priority");
  spec.erase("preemptionPolicy");
  return true;
}

bool is_home_api_server(const auto& alias) {
  const json::array& names = kube::array_at(alias, {"hostnames"});
  return std::ranges::find(names, json::value("kubernetes.default")) != names.end();
}

void remap_api_server(json::object& spec, const IpMapping& ips) {
  for_each_object(spec, "hostAliases", [&ips](json::object& alias) {
    if (!is_home_api_server(alias)) return;
    if (auto mapped = ips.remap(kube::string_at(alias, {"ip"}))) alias["ip"] = *mapped;
  });
}

}  // namespace

std::vector<std::string> home_api_server_addresses(const kube::Object& shadow) {
  std::vector<std::string> found;
  for (const json::value& alias : kube::array_at(api::ShadowPod(shadow).pod_spec(), {"hostAliases"}))
    if (is_home_api_server(alias)) found.emplace_back(kube::string_at(alias, {"ip"}));
  return found;
}

kube::Object forge_provider_pod(const kube::Object& shadow, const IpMapping* api_server_ips, const PodPolicy& policy) {
  kube::Object pod = kube::Object::make(kube::resources::pods, shadow.key());
  auto [labels, left_out] = pod_labels(shadow, policy);
  pod.mutable_metadata()["labels"] = std::move(labels);
  KeptAnnotations kept = pod_annotations(shadow, policy);
  json::object& annotations = kept.kept;
  std::ranges::move(kept.left_out, std::back_inserter(left_out));
  pod.add_owner_reference(blocking_owner_of(shadow));
  json::object& spec = pod.mutable_spec();
  spec = api::ShadowPod(shadow).pod_spec();
  // The API server refuses ephemeral containers in a new pod; they are added to it later.
  spec.erase("ephemeralContainers");
  if (api_server_ips) remap_api_server(spec, *api_server_ips);
  if (spec.contains("tolerations")) {
    KeptTolerations tolerations = kept_tolerations(spec, policy);
    spec["tolerations"] = std::move(tolerations.kept);
    std::ranges::move(tolerations.left_out, std::back_inserter(left_out));
  }
  std::ranges::move(leave_out_orders(spec, policy), std::back_inserter(left_out));
  if (const std::string_view of_consumer = shadow.annotation(api::annotations::priority_class);
      !map_priority(spec, of_consumer, policy))
    left_out.push_back(left_out_priority_class(of_consumer));
  if (policy.always_pull_images) pull_always(spec);
  // Other versions of a consumer leave this to the provider.
  drop_merged_label_keys(spec);
  if (!left_out.empty()) annotations[api::annotations::left_out] = forge_left_out(left_out);
  annotations[api::annotations::applied_resources] = applied_note(shadow);
  const bool tracked = !restarts_always(spec);
  json::object& metadata = pod.mutable_metadata();
  metadata["annotations"] = std::move(annotations);
  if (tracked) metadata["finalizers"] = json::array{json::string(api::finalizers::shadow_pod_tracking)};
  return pod;
}

std::optional<json::object> plan_provider_pod_update(const kube::Object& shadow, const kube::Object& pod,
                                                     const PodPolicy& policy) {
  json::object annotations = pod_annotations(shadow, policy).kept;
  keep_present(annotations, shadow.annotations(), pod.annotations());
  json::object labels = pod_labels(shadow, policy).kept;
  keep_present(labels, shadow.labels(), pod.labels());
  json::object metadata = metadata_patch(pod, labels, annotations, false);
  if (metadata.empty()) return std::nullopt;
  json::object patch;
  // The digest of what was applied shows changes, not the Pod's spec: the provider's admission may have rewritten
  // images and added tolerations.
  const bool spec_changed = kube::find(metadata, {"annotations", api::annotations::applied_spec}) != nullptr &&
                            pod.has_annotation(api::annotations::applied_spec);
  if (spec_changed) {
    json::object spec = mutable_spec(api::ShadowPod(shadow).pod_spec());
    // Tolerations of a pod can only be added, and the patch replaces the list, so it has to contain the present ones.
    json::array tolerations = kube::array_at(pod.spec(), {"tolerations"});
    for (json::value& wanted : kept_tolerations(spec, policy).kept)
      if (std::ranges::find(tolerations, wanted) == tolerations.end()) tolerations.push_back(std::move(wanted));
    if (tolerations.empty())
      spec.erase("tolerations");
    else
      spec["tolerations"] = std::move(tolerations);
    patch["spec"] = std::move(spec);
  }
  metadata["uid"] = pod.uid();
  patch["metadata"] = std::move(metadata);
  return patch;
}

bool has_all_of(const kube::Object& shadow, const kube::Object& pod) {
  const auto resized = applied_generation(pod);
  return pod.annotation(api::annotations::applied_spec) == mutable_digest(api::ShadowPod(shadow)) &&
         (resized.value_or(shadow.generation()) >= shadow.generation() || !resize_left_out(pod).empty());
}

void name_requests(json::object& pod_spec, std::span<const Needs> limit_ranges) {
  if (const json::value* own = pod_spec.if_contains("resources"); own && own->is_object() && !own->get_object().empty())
    return;
  const auto name_missing = [limit_ranges](json::object& container) {
    for (std::string_view name : {"cpu", "memory"}) {
      const bool is_said = kube::find(container, {"resources", "requests", name}) ||
                           kube::find(container, {"resources", "limits", name});
      const bool is_given = std::ranges::any_of(limit_ranges, [&](const Needs& defaults) {
        return defaults.requests.contains(name) || defaults.limits.contains(name);
      });
      if (!is_said && !is_given)
        kube::ensure_object(kube::ensure_object(container, "resources"), "requests")[name] = "0";
    }
  };
  for (std::string_view list : {"containers", "initContainers"}) for_each_object(pod_spec, list, name_missing);
}

}  // namespace liqo::core
