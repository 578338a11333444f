// What a consumer may make of the ephemeral containers of a ShadowPod: add some, as to any pod. What each of them holds
// is looked at by the pod firewall.
#pragma once

#include <string>

#include "kube/base/json.hpp"
#include "liqo/core/admission/pod_policy.hpp"

namespace liqo::core::admission {

/// Why the ephemeral containers of the pod may not become these, "" if they may: one that is there has changed or is
/// gone, there are more than the policy allows, or a name is missing or taken. Both are PodSpecs; `before` is empty for
/// a new ShadowPod.
std::string refuse_ephemeral(const kube::json::object& before, const kube::json::object& after,
                             const PodPolicy& policy);

/// Whether it has more of them than before.
bool adds_ephemeral(const kube::json::object& before, const kube::json::object& after);

}  // namespace liqo::core::admission
