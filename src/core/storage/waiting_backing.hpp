// Whether the claim at a provider that is to hold data waits for its first pod. A consumer may not read the provider's
// StorageClasses, which decide that, so it reads the Events of the claim. Pure.
#pragma once

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::storage {

/// Whether an Event of the claim says that it waits for its first pod.
bool reports_waiting(const kube::json::value& event);

/// Whether a claim that has been pending for `waited` is taken to wait, though no Event says so: Events may get lost.
/// No provisioner has taken notice of it in 20 s.
bool waits_silently(const kube::Object& backing, kube::Duration waited);

}  // namespace liqo::core::storage
