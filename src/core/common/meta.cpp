#include "core/common/meta.hpp"

#include <algorithm>

#include "core/common/difference.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

namespace labels = api::labels;
namespace annotations = api::annotations;

/// Labels that only one of the two clusters sets, so they are not copied.
constexpr std::string_view home_labels[] = {labels::local_pod, labels::remote_unavailable, labels::creator_user};

/// Annotations about the object at home and not about its copy. That of kubectl is the largest one on most pods.
constexpr std::string_view home_annotations[] = {
    annotations::remote_pod_uid,     annotations::restart_offset,    annotations::reflected_keys,
    annotations::reflected_digest,   annotations::applied_spec,      annotations::local_pod_uid,
    annotations::ordered_at,         annotations::ending_grace,      annotations::priority_class,
    annotations::left_out,           annotations::refused,           annotations::remote_conditions,
    annotations::ephemeral_left_out, annotations::applied_resources, annotations::resize_refused,
    annotations::remote_addresses,   annotations::last_applied};

/// Annotations that only a provider sets on its own objects, whatever the consumer puts there.
constexpr std::string_view provider_annotations[] = {annotations::applied_spec, annotations::refused,
                                                     annotations::ephemeral_left_out, annotations::applied_resources,
                                                     annotations::resize_refused};

bool contains(std::span<const std::string_view> keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}
bool contains(const std::vector<std::string>& keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

/// Keys in Liqo's domain are never taken from a copy, so that they need no entry.
bool is_listed(std::string_view key) { return !key.starts_with("offloading.liqo.io/"); }

void append_keys(std::string& out, const json::object& entries) {
  bool first = true;
  for (const auto& [key, value] : entries) {
    if (!is_listed(key)) continue;
    if (!first) out += ',';
    out += std::string_view(key);
    first = false;
  }
}

}  // namespace

bool is_reflected(const kube::Object& remote_object, const ClusterPair& clusters) {
  return !clusters.local.empty() && remote_object.label(labels::reflection_origin) == clusters.local &&
         remote_object.label(labels::reflection_destination) == clusters.remote;
}

bool is_for_another(const kube::Object& remote_object, const kube::Object& local_pod) {
  const std::string_view uid = remote_object.annotation(annotations::local_pod_uid);
  return !uid.empty() && uid != local_pod.uid();
}

json::object reflected_labels(const kube::Object& local, const ForgingContext& ctx) {
  json::object kept;
  for (const auto& [key, value] : local.labels())
    if (value.is_string() && !contains(home_labels, key) && !contains(ctx.patch.labels_not_reflected, key))
      kept[key] = value;
  kept[labels::reflection_origin] = ctx.clusters.local;
  kept[labels::reflection_destination] = ctx.clusters.remote;
  return kept;
}

json::object reflected_annotations(const kube::Object& local, const ForgingContext& ctx) {
  json::object kept;
  for (const auto& [key, value] : local.annotations())
    if (value.is_string() && !contains(home_annotations, key) && !contains(ctx.patch.annotations_not_reflected, key))
      kept[key] = value;
  return kept;
}

bool covers(const json::object& have, const json::object& wanted) {
  return std::ranges::all_of(wanted, [&have](const auto& entry) {
    const json::value* present = have.if_contains(entry.key());
    return present && *present == entry.value();
  });
}

std::string reflected_keys(const json::object& label_map, const json::object& annotation_map) {
  std::string keys;
  append_keys(keys, label_map);
  keys += ';';
  append_keys(keys, annotation_map);
  return keys;
}

json::object metadata_patch(const kube::Object& live, const json::object& label_map, const json::object& annotation_map,
                            bool owns_unlisted) {
  const bool listed = live.has_annotation(annotations::reflected_keys);
  const std::string_view list = live.annotation(annotations::reflected_keys);
  const auto half = std::min(list.find(';'), list.size());
  const auto owned_labels = kube::split(list.substr(0, half), ',');
  const auto owned_annotations = kube::split(list.substr(std::min(half + 1, list.size())), ',');
  const auto owns = [&](const std::vector<std::string_view>& keys) {
    return [&, listed, owns_unlisted](std::string_view key) {
      if (contains(home_labels, key) || contains(provider_annotations, key)) return false;
      return listed ? std::ranges::find(keys, key) != keys.end() : owns_unlisted;
    };
  };
  json::object patch;
  if (json::object changes = changed_entries(live.labels(), label_map, owns(owned_labels)); !changes.empty())
    patch["labels"] = std::move(changes);
  if (json::object changes = changed_entries(live.annotations(), annotation_map, owns(owned_annotations));
      !changes.empty())
    patch["annotations"] = std::move(changes);
  return patch;
}

}  // namespace liqo::core
