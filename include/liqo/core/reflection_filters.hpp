// Which labels and annotations are left out of copies, where several virtual nodes of a provider say different things.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// What `labelsNotReflected` and `annotationsNotReflected` of one VirtualNode say.
struct ReflectionFilters {
  std::vector<std::string> labels, annotations;
  bool operator==(const ReflectionFilters&) const = default;
};

ReflectionFilters filters_of(const kube::Object& virtual_node);
/// The VirtualNode of that provider whose filters hold for copies, which all of its virtual nodes share: the oldest, of
/// several of one age the first by name. nullptr where the provider has none.
const kube::Object* filters_decided_by(std::span<const kube::Object> virtual_nodes, std::string_view provider);

}  // namespace liqo::core
