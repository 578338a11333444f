// What GET /configz says of a virtual node.
#pragma once

#include "kube/k8s/object.hpp"

namespace liqo::kubelet {

/// A KubeletConfiguration of what is true of a virtual node. What the provider's kubelets are set to is not told.
kube::json::object node_configuration(const kube::Object& node);

}  // namespace liqo::kubelet
