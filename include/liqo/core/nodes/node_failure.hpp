// What becomes of a consumer's pod whose node at the provider does not answer any more. Pure.
#pragma once

#include <optional>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// In how long the pod is to be deleted by force; nothing where it is not: it is not being deleted, or is so by force
/// already, or its node is Ready or gone (then Kubernetes removes the pod). Its grace time is waited for: a node that
/// comes back in it ends the pod itself.
std::optional<kube::Duration> force_delete_in(const kube::Object& pod, const kube::Object* node, kube::WallTime now);

}  // namespace liqo::core
