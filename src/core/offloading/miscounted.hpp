// Pods of home that are spread over a virtual node, too, although they may not run there.
// Tested by test/unit/core/offloading/miscounted_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The topology keys of the template's `DoNotSchedule` constraints for which the scheduler counts the node, although a
/// taint keeps the pods off it: it counts tainted nodes unless `nodeTaintsPolicy` is Honor
/// (https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/). The node never has such a
/// pod, so no other one may have more than maxSkew, and the rest stay Pending.
std::vector<std::string> miscounted_keys(const kube::json::object& pod_template, const kube::Object& node);

}  // namespace liqo::core
