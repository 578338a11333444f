// The amounts that a pod reserves: those that the Kubernetes scheduler sets aside for it.
// Tested by test/unit/core/quota/demand_test.cpp.
#pragma once

#include <optional>
#include <vector>

#include "core/common/resources.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The requests and limits of one container, or of the pod as a whole.
struct Needs {
  Resources requests, limits;
};

/// What one container of a PodSpec needs.
struct ContainerNeeds {
  std::string name;
  Needs needs;
  bool sidecar = false;  ///< an init container with restartPolicy Always
};

/// The parts of a PodSpec that decide how much it reserves.
struct PodNeeds {
  std::vector<ContainerNeeds> containers, init_containers;
  std::optional<Needs> pod;  ///< `spec.resources` (KEP-2837)
  Resources overhead;
};

/// Reads a PodSpec as it was written. Errors: Errc::invalid_input that names the container and the resource.
kube::Result<PodNeeds> read_pod_needs(const kube::json::object& pod_spec);

/// Raises the requests of containers, and those of the pod as a whole, to what their node has allocated for them. While
/// a resize is in progress, deferred, infeasible or not seen by the node yet, it raises them also to what they still
/// have. A Pod that shrinks holds more than it asks for. Amounts of the status that cannot be read are ignored.
void raise_to_allocated(PodNeeds& needs, const kube::Object& pod);

/// Applies the defaults that the API server applies to every pod: limits become requests if there are none, and
/// pod-level requests and hugepage limits are filled from the containers'.
void apply_defaults(PodNeeds& needs);
/// The container defaults of a LimitRange's spec, completed as the API server completes them. Errors as of
/// `read_resources`.
kube::Result<Needs> limit_range_defaults(const kube::json::object& limit_range_spec);
/// Fills what a container leaves open from a LimitRange's defaults.
void apply_limit_range(PodNeeds& needs, const Needs& defaults);

/// The amounts that scheduling sets aside: containers and sidecars together, or the most that an init container needs
/// beside the sidecars before it, whichever is larger (KEP-753); pod-level requests instead if they are set; and the
/// overhead. Without the count of `pods`.
Resources pod_requests(const PodNeeds& needs);

/// What the cluster adds to the amounts of a pod.
struct PodAdditions {
  std::vector<Needs> limit_ranges;    ///< of its namespace, by name
  std::optional<Resources> overhead;  ///< of its RuntimeClass
};

/// Makes the amounts those of the PodSpec as the API server will store it with these additions. Kubernetes 1.37 has
/// changed what a LimitRange does to the requests of a pod as a whole: the larger ones are taken.
void settle(PodNeeds& needs, const PodAdditions& additions);

}  // namespace liqo::core
