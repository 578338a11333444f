// The fields of a pod that have no effect at its provider, or another one than at home, and their Event. Pure.
// Tested by test/unit/core/offloading/dropped_fields_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/offloading/shadow_pod.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The fields of the pod's spec that are not in the spec that is sent although the pod may rely on them, also those of
/// a Kubernetes that this version does not know. Fields that only steer scheduling at home (nodeSelector, affinity,
/// schedulerName, ...), or reach the provider in another way, are not among them; the pod at the provider shows whether
/// it has its priority class (core/offloading/left_out.hpp).
std::vector<std::string> unsent_fields(const kube::json::object& local_spec, const kube::json::object& sent_spec);

/// The sources of projected volumes that hold what the provider's signers have signed, or its trust bundles, e.g.
/// "volumes[0].projected.sources[1].podCertificate". Those that come from home do not count, and trust bundles do not
/// if the pod asks for the provider's.
std::vector<std::string> foreign_fields(const kube::Object& local_pod, const ForgingContext& ctx);

/// The sentence of the Event at home about a pod whose ShadowPod was stored as `created`; "" = nothing was dropped.
std::string describe_dropped_fields(const ForgedShadowPod& forged, const kube::Object& created,
                                    std::string_view provider);

}  // namespace liqo::core
