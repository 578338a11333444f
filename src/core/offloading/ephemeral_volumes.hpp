// Volumes that live as long as their pod, and have a claim (generic ephemeral volumes). Pure.
// Tested by test/unit/core/offloading/ephemeral_volumes_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The name of the claim that Kubernetes makes for an ephemeral volume of a pod (KEP-1698).
std::string ephemeral_claim_name(std::string_view pod, std::string_view volume);

/// Whether a volume of the pod has that claim: because the pod names it, or because it was made for the volume.
bool uses_claim(const kube::Object& pod, std::string_view claim);

/// Makes those ephemeral volumes of a remote pod spec name their claim whose claim at home has `storage_class`, the
/// class of volumes that follow their pods. Liqo has made a claim of the same name where the pod runs, and the provider
/// would make another one for the template. Other templates stay, and the provider makes their claims. `class_of`
/// returns the class of a claim at home, no value while that is not there; it is asked if the template names none.
/// Errors: Errc::missing for such a claim.
kube::Result<void> name_ephemeral_claims(kube::json::object& pod_spec, std::string_view pod,
                                         std::string_view storage_class,
                                         const std::function<std::optional<std::string>(std::string_view)>& class_of);

}  // namespace liqo::core
