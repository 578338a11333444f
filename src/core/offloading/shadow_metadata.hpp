// The parts of a ShadowPod that follow the local pod: used when it is created and when it is updated.
// Tested by test/unit/core/offloading/shadow_pod_test.cpp and test/unit/core/offloading/shadow_pod_update_test.cpp.
#pragma once

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

kube::json::object shadow_labels(const kube::Object& local_pod, const ForgingContext& ctx);
/// The annotations of a ShadowPod. `labels` are those of `shadow_labels`: their keys are listed among the annotations.
/// `reads` are those of `forge_reads`.
kube::json::object shadow_annotations(const kube::Object& local_pod, const kube::json::object& labels,
                                      const kube::json::object& reads, const ForgingContext& ctx);
/// The pod's tolerations without that of virtual nodes, and those of the offloading patch.
kube::json::array forge_tolerations(const kube::Object& local_pod, const ForgingContext& ctx);

}  // namespace liqo::core
