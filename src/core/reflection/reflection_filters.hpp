// Which labels and annotations are left out of copies, also if the virtual nodes of one provider differ about them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// Keys that copies and ShadowPods do not have.
struct ReflectionFilters {
  std::vector<std::string> labels, annotations;
  bool operator==(const ReflectionFilters&) const = default;
};

/// What controllers of load balancers and Ingresses of the home cluster note on an object about themselves. Go Liqo's
/// chart has the same list.
std::vector<std::string> default_annotations_not_reflected();

/// The filters of one VirtualNode: `labelsNotReflected` and `annotationsNotReflected` of its offloadingPatch and of the
/// VkOptionsTemplate that it follows (null = none), and the keys that are left out everywhere. Sorted, each once.
ReflectionFilters filters_of(const kube::Object& virtual_node, const kube::Object* options_template,
                             const ReflectionFilters& everywhere);
/// The VirtualNode whose filters hold for copies, which all virtual nodes of that provider share: the oldest, and of
/// several equally old ones the first by name. nullptr if the provider has none.
const kube::Object* filters_decided_by(std::span<const kube::Object> virtual_nodes, std::string_view provider);

}  // namespace liqo::core::reflection
