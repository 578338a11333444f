#include "core/reflection/reflection_filters.hpp"

#include <algorithm>
#include <tuple>

#include "liqo/api/virtual_node.hpp"
#include "liqo/api/vk_options_template.hpp"

namespace liqo::core::reflection {
namespace {

void add(std::vector<std::string>& keys, std::vector<std::string> more) {
  std::ranges::move(more, std::back_inserter(keys));
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
}

}  // namespace

std::vector<std::string> default_annotations_not_reflected() {
  return {"cloud.google.com/neg",
          "cloud.google.com/neg-status",
          "kubernetes.digitalocean.com/load-balancer-id",
          "ingress.kubernetes.io/backends",
          "ingress.kubernetes.io/forwarding-rule",
          "ingress.kubernetes.io/target-proxy",
          "ingress.kubernetes.io/url-map",
          "metallb.universe.tf/address-pool",
          "metallb.universe.tf/ip-allocated-from-pool",
          "metallb.universe.tf/loadBalancerIPs",
          "loadbalancer.openstack.org/load-balancer-id"};
}

ReflectionFilters filters_of(const kube::Object& virtual_node, const kube::Object* options_template,
                             const ReflectionFilters& everywhere) {
  ReflectionFilters filters = everywhere;
  api::OffloadingPatch patch = api::VirtualNode(virtual_node).offloading_patch();
  add(filters.labels, std::move(patch.labels_not_reflected));
  add(filters.annotations, std::move(patch.annotations_not_reflected));
  if (options_template) {
    const api::VkOptionsTemplate view(*options_template);
    add(filters.labels, view.labels_not_reflected());
    add(filters.annotations, view.annotations_not_reflected());
  }
  return filters;
}

const kube::Object* filters_decided_by(std::span<const kube::Object> virtual_nodes, std::string_view provider) {
  const kube::Object* oldest = nullptr;
  const auto age = [](const kube::Object& node) {
    return std::tuple(node.creation_timestamp(), node.name(), node.ns());
  };
  for (const kube::Object& node : virtual_nodes)
    if (api::VirtualNode(node).cluster_id() == provider && (!oldest || age(node) < age(*oldest))) oldest = &node;
  return oldest;
}

}  // namespace liqo::core::reflection
