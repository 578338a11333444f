// Who owns an object. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// A reference to `owner`, which needs apiVersion, kind, name and UID. `controller`: it is the managing controller.
kube::OwnerReference owner_of(const kube::Object& owner, bool controller = true);

/// A reference to `owner` as the managing controller, whose deletion in the foreground waits for the object.
kube::OwnerReference blocking_owner_of(const kube::Object& owner);

/// Whether `owner` is the managing controller of `object`.
bool is_controlled_by(const kube::Object& object, const kube::Object& owner);

/// Whether the object names an owner of this kind with this name, whatever its UID.
bool is_owned_by(const kube::Object& object, const kube::Resource& kind, std::string_view name);

/// The object with `owner` among its owners, which needs what owner_of() needs; nothing if it has that owner already.
/// Kubernetes removes an object with its owner. A ClusterRole of the chart owns what this program registers at the API
/// server, so that this is removed, too, in whatever way Liqo is uninstalled.
std::optional<kube::Object> owned_by(const kube::Object& object, const kube::Object& owner);

}  // namespace liqo::core
