// What GET /configz says of a virtual node.
#pragma once

#include "kube/k8s/object.hpp"

namespace liqo::kubelet {

/// A KubeletConfiguration with what holds for a virtual node. The settings of the provider's kubelets are not known.
kube::json::object node_configuration(const kube::Object& node);

}  // namespace liqo::kubelet
