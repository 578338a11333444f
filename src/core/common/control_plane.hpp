// The marks of the nodes that run the control plane.
#pragma once

#include <array>
#include <string_view>

namespace liqo::core {

/// Their labels, and the keys of their taints: that of Kubernetes, its name before 1.20, and that of RKE. The first
/// label that any node has decides which nodes they are.
inline constexpr std::array<std::string_view, 3> control_plane_labels = {
    "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "node-role.kubernetes.io/controlplane"};

}  // namespace liqo::core
