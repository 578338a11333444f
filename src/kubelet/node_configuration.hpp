// The answer of a virtual node to GET /configz.
#pragma once

#include "kube/k8s/object.hpp"

namespace liqo::kubelet {

/// A KubeletConfiguration with the settings that hold for a virtual node. Those of the provider's kubelets are not
/// known.
kube::json::object node_configuration(const kube::Object& node);

}  // namespace liqo::kubelet
