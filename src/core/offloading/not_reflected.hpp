// Which objects a pod lacks at the provider because they are not copied there. Pure.
#pragma once

#include <functional>
#include <string>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The objects without which the pod cannot start, each once, e.g. "PersistentVolumeClaim a, ResourceClaim b"; "" =
/// none. Claims of devices are here for a provider whose policy allows them. `follows` returns whether the volume of a
/// claim is in the cluster where the pod runs.
std::string not_reflected(const kube::Object& pod, const std::function<bool(std::string_view)>& follows);

/// The sentence of the Event at home.
std::string describe_not_reflected(const std::string& objects, const std::string& provider);

}  // namespace liqo::core
