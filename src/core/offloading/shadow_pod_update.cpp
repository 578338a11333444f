#include "core/offloading/shadow_pod_update.hpp"

#include <algorithm>

#include "core/common/json_values.hpp"
#include "core/common/meta.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/pod_reads.hpp"
#include "core/offloading/refused_labels.hpp"
#include "core/offloading/shadow_metadata.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// The ShadowPod's list with the images of the local pod, or nullopt if they are the same.
std::optional<json::array> changed_images(const json::object& local_spec, const json::object& shadow_spec,
                                          std::string_view list) {
  const json::array& wanted = kube::array_at(local_spec, {list});
  std::optional<json::array> changed;
  const json::array& have = kube::array_at(shadow_spec, {list});
  for (std::size_t i = 0; i < have.size(); ++i) {
    const json::value* local = find_named(wanted, kube::string_at(have[i], {"name"}));
    const std::string_view image = local ? kube::string_at(*local, {"image"}) : std::string_view();
    if (image.empty() || !have[i].is_object() || image == kube::string_at(have[i], {"image"})) continue;
    if (!changed) changed = have;
    (*changed)[i].get_object()["image"] = image;
  }
  return changed;
}

/// What the pod reads about itself, as far as its ShadowPod refers to it. If that has become too much, the ShadowPod
/// keeps what it has.
json::object changed_reads(const kube::Object& local_pod, const kube::Object& shadow) {
  json::object reads = forge_reads(local_pod, kube::object_at(shadow.spec(), {"pod"}));
  if (!refuse_reads(reads).empty())
    for (auto& [key, value] : reads) value = shadow.annotation(key);
  return reads;
}

}  // namespace

std::optional<json::object> plan_shadow_pod_update(const kube::Object& local_pod, const kube::Object& shadow,
                                                   const ForgingContext& ctx) {
  json::object labels = shadow_labels(local_pod, ctx);
  keep_left_out(labels, shadow);
  json::object annotations = shadow_annotations(local_pod, labels, changed_reads(local_pod, shadow), ctx);
  // The ShadowPod was stored late, and the provider waits for this annotation before it makes a Pod.
  if (!is_timely(shadow))
    annotations[api::annotations::ordered_at] = kube::string_at(shadow.tree(), {"metadata", "creationTimestamp"});
  json::object metadata = metadata_patch(shadow, labels, annotations, true);

  const json::object& local_spec = local_pod.spec();
  const json::object& shadow_spec = kube::object_at(shadow.spec(), {"pod"});
  json::object pod;
  for (std::string_view list : {"containers", "initContainers"})
    if (auto changed = changed_images(local_spec, shadow_spec, list)) pod[list] = std::move(*changed);
  const json::value* deadline = kube::find(local_spec, {"activeDeadlineSeconds"});
  const json::value* have_deadline = kube::find(shadow_spec, {"activeDeadlineSeconds"});
  // Kubernetes lets a deadline be set and shortened, but not removed.
  if (deadline && !deadline->is_null() && (!have_deadline || *have_deadline != *deadline))
    pod["activeDeadlineSeconds"] = *deadline;
  const json::array& have_tolerations = kube::array_at(shadow_spec, {"tolerations"});
  json::array missing;
  for (json::value& wanted : forge_tolerations(local_pod, ctx))
    if (std::ranges::find(have_tolerations, wanted) == have_tolerations.end()) missing.push_back(std::move(wanted));
  if (!missing.empty()) {
    json::array tolerations = have_tolerations;
    for (json::value& toleration : missing) tolerations.push_back(std::move(toleration));
    pod["tolerations"] = std::move(tolerations);
  }

  if (metadata.empty() && pod.empty()) return std::nullopt;
  metadata["uid"] = shadow.uid();
  metadata["resourceVersion"] = shadow.resource_version();
  json::object patch{{"metadata", std::move(metadata)}};
  if (!pod.empty()) patch["spec"] = json::object{{"pod", std::move(pod)}};
  return patch;
}

std::string refuse_read_change(const kube::Object& local_pod, const kube::Object& shadow) {
  return refuse_reads(forge_reads(local_pod, kube::object_at(shadow.spec(), {"pod"})));
}

}  // namespace liqo::core
