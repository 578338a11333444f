// When a consumer's Pod is deleted by force because its node at the provider has failed. Pure.
#pragma once

#include <optional>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// How long to wait before the pod is deleted by force; nothing if it is not to be: it is not being deleted, is deleted
/// by force already, or its node is Ready or gone (then Kubernetes removes the pod). The grace period has to pass
/// first, because a node that comes back in it ends the pod itself.
std::optional<kube::Duration> force_delete_in(const kube::Object& pod, const kube::Object* node, kube::WallTime now);

}  // namespace liqo::core
