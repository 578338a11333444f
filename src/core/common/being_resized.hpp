// Whether the node of a Pod has a resize of it left to do (KEP-1287).
#pragma once

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether a Pod may have other amounts than it asks for: its node is changing them, has deferred that or cannot do it,
/// or has not seen the Pod's present generation.
bool is_being_resized(const kube::Object& pod);

}  // namespace liqo::core
