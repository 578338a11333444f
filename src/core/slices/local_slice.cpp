#include "core/slices/local_slice.hpp"

#include "core/common/difference.hpp"
#include "core/slices/request.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::core {
namespace json = kube::json;

LocalSlicePlan plan_local_slice(const kube::Object& slice, std::string_view own_cluster, std::string_view provider,
                                std::string_view csr) {
  using namespace local_slice_action;
  const api::ResourceSlice view(slice);
  const std::string_view label = slice.label(api::labels::remote_cluster_id);
  std::string refusal;
  if (provider.empty()) {
    refusal = "namespace " + std::string(slice.ns()) +
              " is no tenant namespace; create the ResourceSlice in that of cluster " + std::string(label);
  } else if (label != provider) {
    refusal = "the ResourceSlice is for cluster " + kube::in_quotes(label) + ", its namespace for " +
              kube::in_quotes(provider) + "; create it in the tenant namespace of the cluster that it asks";
  } else if (!view.provider().empty() && view.provider() != provider) {
    refusal = "spec.providerClusterID is " + kube::in_quotes(view.provider()) +
              ", but the label and the namespace are for " + kube::in_quotes(provider);
  } else if (!view.consumer().empty() && view.consumer() != own_cluster) {
    refusal = "spec.consumerClusterID is " + kube::in_quotes(view.consumer()) + ", but this cluster is " +
              kube::in_quotes(own_cluster) + "; leave it out";
  } else if (slice.name().size() > max_slice_name) {
    refusal = "the name of the ResourceSlice has " + std::to_string(slice.name().size()) +
              " characters; create it with at most " + std::to_string(max_slice_name);
  }
  if (!refusal.empty()) return Refuse{std::move(refusal)};

  kube::Object wanted = slice;
  if (view.consumer().empty()) wanted.mutable_spec()["consumerClusterID"] = own_cluster;
  if (view.provider().empty()) wanted.mutable_spec()["providerClusterID"] = provider;
  if (!csr.empty() && view.csr() != csr) wanted.mutable_spec()["csr"] = csr;
  // "false" is a user's word that the slice stays at home, so a label that is there is kept.
  if (!slice.has_label(api::labels::replication)) wanted.set_label(api::labels::replication, "true");
  if (!slice.has_label(api::labels::replication_destination))
    wanted.set_label(api::labels::replication_destination, provider);
  json::object patch = difference(slice.tree(), wanted.tree());
  if (patch.empty()) return Keep{};
  kube::ensure_object(patch, "metadata")["resourceVersion"] = slice.resource_version();
  return Patch{std::move(patch)};
}

}  // namespace liqo::core
