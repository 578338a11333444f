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

/// Makes those ephemeral volumes of the remote spec of `pod` name their claim whose claim at home has `storage_class`,
/// the class of volumes that follow their pods. Liqo has made a claim of the same name where the pod runs, and the
/// provider would make another one for the template. Other templates stay, and the provider makes their claims.
/// `claim_of` returns a claim at home, no value while it is not there.
/// Errors: Errc::missing for a claim that shows the class of a template without one; Errc::invalid_input for one that
/// was not made for the pod, which Kubernetes gives to no ephemeral volume, either.
kube::Result<void> name_ephemeral_claims(kube::json::object& pod_spec, const kube::Object& pod,
                                         std::string_view storage_class,
                                         const std::function<std::optional<kube::Object>(std::string_view)>& claim_of);

}  // namespace liqo::core
