// Which labels and annotations are left out of copies, where several virtual nodes of a provider say different things.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Keys that copies and ShadowPods do not have.
struct ReflectionFilters {
  std::vector<std::string> labels, annotations;
  bool operator==(const ReflectionFilters&) const = default;
};

/// What controllers of load balancers and Ingresses of the home cluster note on an object about themselves. Go Liqo's
/// chart has the same list.
std::vector<std::string> default_annotations_not_reflected();

/// What holds for one VirtualNode: what `labelsNotReflected` and `annotationsNotReflected` say of its offloadingPatch
/// and of the VkOptionsTemplate that it follows (null = of none), and what is left out everywhere. Sorted, each once.
ReflectionFilters filters_of(const kube::Object& virtual_node, const kube::Object* options_template,
                             const ReflectionFilters& everywhere);
/// The VirtualNode of that provider whose filters hold for copies, which all of its virtual nodes share: the oldest, of
/// several of one age the first by name. nullptr where the provider has none.
const kube::Object* filters_decided_by(std::span<const kube::Object> virtual_nodes, std::string_view provider);

}  // namespace liqo::core
