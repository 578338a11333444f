// Who owns an object. Pure.
#pragma once

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// A reference to `owner`, which needs apiVersion, kind, name and UID. `controller`: it is the managing controller.
kube::OwnerReference owner_of(const kube::Object& owner, bool controller = true);

/// As owner_of(): the managing controller, whose deletion in the foreground waits for the object.
kube::OwnerReference blocking_owner_of(const kube::Object& owner);

/// Whether `owner` is the managing controller of `object`.
bool is_controlled_by(const kube::Object& object, const kube::Object& owner);

}  // namespace liqo::core
