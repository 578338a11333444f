#include "controllers/reflection/header.hpp"

#include "core/reflection/remote_addresses.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::controllers {
namespace {

/// Only "true", "false" and other values differ in meaning, so a long value is not held in the cache.
std::string_view in_short(std::string_view value) {
  constexpr std::string_view longest = "false";
  return value.size() <= longest.size() ? value : "other";
}

/// The clusters of which the annotation has addresses, with blanks between them; "?" if it is none of ours.
std::string clusters_in(const kube::json::value& annotation) {
  std::string clusters;
  if (const auto* text = annotation.if_string()) {
    const auto all = core::reflection::RemoteAddresses::read(*text);
    for (const auto& [cluster, addresses] : all.entries()) clusters += (clusters.empty() ? "" : " ") + cluster;
  }
  return clusters.empty() ? "?" : clusters;
}

void keep_header(kube::json::object& tree) {
  kube::json::object kept;
  for (std::string_view field : {"name", "namespace", "uid", "resourceVersion"})
    if (const auto* value = kube::find(tree, {"metadata", field})) kept[field] = *value;
  kube::json::object deciding;
  for (std::string_view key : {api::annotations::skip_reflection, api::annotations::allow_reflection,
                               api::annotations::use_direct_connections})
    if (const auto* value = kube::find(tree, {"metadata", "annotations", key}); value && value->is_string())
      deciding[key] = in_short(value->get_string());
  if (const auto* value = kube::find(tree, {"metadata", "annotations", api::annotations::remote_addresses}))
    deciding[api::annotations::remote_addresses] = clusters_in(*value);
  if (!deciding.empty()) kept["annotations"] = std::move(deciding);
  tree["metadata"] = std::move(kept);
}

}  // namespace

kube::InformerScope headers_of(const kube::Resource& resource) {
  return {.resource = resource, .metadata_only = true, .prune = keep_header};
}

}  // namespace liqo::controllers
