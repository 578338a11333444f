#include "controllers/reflection/own_addresses.hpp"

#include "controllers/common/keep_fields.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace json = kube::json;
namespace {

void prune_metadata(json::object& tree) {
  // Labels are what the informer selects by.
  keep_fields_of(tree, "metadata", {"name", "namespace", "uid", "resourceVersion", "labels"});
}

void prune_pod(json::object& tree) {
  prune_metadata(tree);
  tree.erase("spec");
  keep_fields_of(tree, "status", {"phase", "podIP", "podIPs", "hostIP"});
}

void prune_service(json::object& tree) {
  prune_metadata(tree);
  keep_fields_of(tree, "spec", {"clusterIP", "clusterIPs", "externalIPs"});
}

void prune_node(json::object& tree) {
  prune_metadata(tree);
  keep_fields_of(tree, "spec", {"podCIDR", "podCIDRs"});
  keep_fields_of(tree, "status", {"addresses"});
}

std::vector<core::Cidr> declared(const std::string& ranges) {
  return core::parse_ranges(ranges).value_or(std::vector<core::Cidr>());
}

}  // namespace

OwnAddressWatch::OwnAddressWatch(Context context, Handler changed)
    : context_(std::move(context)), changed_(std::move(changed)), all_(declared(context_.settings.peering.pod_cidrs)) {}

void OwnAddressWatch::start() {
  if (pods_) return;
  const std::string not_virtual = kube::label_is_not(api::labels::type, api::labels::type_virtual_node);
  watch(pods_,
        {.resource = kube::resources::pods,
         .ns = {},
         .selection = {.label_selector = kube::label_is_not(api::labels::local_pod, "true")},
         .prune = prune_pod},
        core::HeldAddresses::of_pod);
  watch(services_, {.resource = kube::resources::services, .prune = prune_service}, core::HeldAddresses::of_service);
  watch(
      nodes_,
      {.resource = kube::resources::nodes, .ns = {}, .selection = {.label_selector = not_virtual}, .prune = prune_node},
      core::HeldAddresses::of_node);
  watch(service_cidrs_, {.resource = api::kinds::service_cidrs}, core::HeldAddresses::of_service_cidr);
}

void OwnAddressWatch::watch(kube::InformerHandle& handle, const kube::InformerScope& scope, Read read) {
  handle = context_.home.acquire(scope);
  handle.follow([this, read, kind = std::string(scope.resource.plural)](const kube::Change& object) {
    const auto change = all_.set(kind, object.key, read(object.now));
    if (!change.is_empty()) changed_(change);
  });
}

bool OwnAddressWatch::is_known() const {
  // Kubernetes before 1.33 has no ServiceCIDRs.
  return pods_ && pods_->has_synced() && services_->has_synced() && nodes_->has_synced() && service_cidrs_->is_known();
}

}  // namespace liqo::controllers
