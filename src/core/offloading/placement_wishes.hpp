// A pod's place among other pods, as a wish to the provider: its home has met the demands when it chose the virtual
// node. Pure.
// Tested by test/unit/core/offloading/placement_wishes_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Makes a wish (`ScheduleAnyway`) of each topology spread constraint of a pod's spec that says `DoNotSchedule`, and
/// removes its minDomains, which API servers refuse beside a wish. A demand is left out if the pod has a wish for the
/// same key, because API servers refuse two of them.
void soften_topology_spread(kube::json::object& spec);

/// `podAffinity` of the remote pod with wishes alone, empty if none: the preferred terms of the pod, and the required
/// ones with the greatest weight (100). Terms are narrowed to the pod's own namespace; those that select namespaces of
/// home by labels, or only other ones by name, are left out, because the provider has other namespaces.
kube::json::object soft_pod_affinity(const kube::Object& local_pod);

/// The topology keys of the wishes of a pod's spec, spread constraints and pod affinity, sorted, each once.
std::vector<std::string> wished_topology_keys(const kube::json::object& spec);

/// The topology keys of the demands of the pod at home that its remote pod only wishes, and that no node of the
/// provider has, as the remote pod notes (`offloading.liqo.io/missing-topology-keys`). A list from a provider is
/// bounded as any note of what it leaves out (core/offloading/left_out.hpp).
std::vector<std::string> unmet_topology_keys(const kube::Object& local_pod, const kube::Object& remote_pod);

}  // namespace liqo::core
