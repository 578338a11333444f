// Which nodes a pod may be scheduled on, as the Kubernetes scheduler sees it: labels, required affinity, taints.
// Tested by test/unit/core/offloading/waiting_test.cpp.
#pragma once

#include <string_view>

#include "kube/base/json.hpp"

namespace liqo::core {

/// Whether nodeSelector and required node affinity of a pod, or of a template of one, take a node of that name with
/// these labels.
bool takes_node(const kube::json::object& pod, std::string_view node_name, const kube::json::object& labels);

/// Whether a pod tolerates a taint. A toleration for a time counts.
bool tolerates(const kube::json::object& pod, const kube::json::value& taint);

}  // namespace liqo::core
