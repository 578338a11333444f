#include "liqo/core/reflection_filters.hpp"

#include <tuple>

#include "liqo/api/virtual_node.hpp"

namespace liqo::core {

ReflectionFilters filters_of(const kube::Object& virtual_node) {
  api::OffloadingPatch patch = api::VirtualNode(virtual_node).offloading_patch();
  return {.labels = std::move(patch.labels_not_reflected), .annotations = std::move(patch.annotations_not_reflected)};
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

}  // namespace liqo::core
