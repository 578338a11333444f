// Which objects a pod at the provider lacks, because they are not copied there. Pure.
#pragma once

#include <functional>
#include <string>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// What the pod cannot start without: "PersistentVolumeClaim a, PersistentVolumeClaim b", each once; "" = nothing.
/// `follows` answers whether the volume of a claim is where the pod runs.
std::string not_reflected(const kube::Object& pod, const std::function<bool(std::string_view)>& follows);

/// The sentence of the Event at home.
std::string describe_not_reflected(const std::string& objects, const std::string& provider);

}  // namespace liqo::core
