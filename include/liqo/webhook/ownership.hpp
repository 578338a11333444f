// What owns the objects that this program registers at the API server: a ClusterRole of the chart, with which
// Kubernetes removes them, whatever way Liqo is uninstalled. Tested by test/unit/webhook/replicas_test.cpp.
#pragma once

#include <optional>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::webhook {

/// Whether the object names an owner of this kind with this name, whatever its UID.
bool is_owned_by(const kube::Object& object, const kube::Resource& kind, std::string_view name);

/// The same object, belonging to the owner; nothing where it does already. `kind` is the owner's.
std::optional<kube::Object> owned_by(const kube::Object& object, const kube::Object& owner, const kube::Resource& kind);

}  // namespace liqo::webhook
