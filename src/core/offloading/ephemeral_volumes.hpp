// Volumes that live as long as their pod, and have a claim (generic ephemeral volumes). Pure.
// Tested by test/unit/core/offloading/ephemeral_volumes_test.cpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The name of the claim that Kubernetes makes for an ephemeral volume of a pod (KEP-1698).
std::string ephemeral_claim_name(std::string_view pod, std::string_view volume);

/// Makes those ephemeral volumes of a remote pod spec name their claim whose claim at home gets its volume where the
/// pod runs: Liqo has made a claim of the same name there, and the provider would make another one for the template.
/// Other templates stay, and the provider makes their claims. `follows` returns whether the volume of a claim follows
/// its pod, `storage_class` is the class of such claims.
void name_ephemeral_claims(kube::json::object& pod_spec, std::string_view pod, std::string_view storage_class,
                           const std::function<bool(std::string_view)>& follows);

}  // namespace liqo::core
