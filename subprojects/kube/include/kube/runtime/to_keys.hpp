// The keys that a change of a watched object makes due: the usual functions for Controller::watch().
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kube/k8s/resource.hpp"
#include "kube/runtime/change.hpp"
#include "kube/runtime/informer_set.hpp"

namespace kube {

/// The namespace of what has changed.
inline ObjectKey to_namespace(const ObjectKey& changed) { return {"", changed.ns}; }

/// All `objects` in the namespace of what has changed. Their informer outlives the function.
std::function<std::vector<ObjectKey>(const ObjectKey& changed)> in_namespace_of(const InformerHandle& objects);

/// The one of `objects` whose name, after `prefix`, is that of what has changed in the same namespace; nothing if there
/// is none. Their informer outlives the function.
std::function<std::optional<ObjectKey>(const ObjectKey& changed)> without_prefix(std::string prefix,
                                                                                 const InformerHandle& objects);

/// The owners of one kind that what has changed has now, or had before: each owner reference of that group and kind, in
/// whatever version. An owner of a namespaced kind is in the same namespace.
std::function<std::vector<ObjectKey>(const Change& change)> to_owner(const Resource& owner);

}  // namespace kube
