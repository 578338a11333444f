// How a consumer may change the ephemeral containers of a ShadowPod: it may add some, as to any pod. The pod firewall
// checks the fields of each.
#pragma once

#include <string>

#include "core/policy/pod_policy.hpp"
#include "kube/base/json.hpp"

namespace liqo::core::admission {

/// Why the ephemeral containers of PodSpec `before` may not become those of `after`; "" if they may. Refused are a
/// change or removal of one that exists, more than the policy allows, and a name that is missing or taken. `before` is
/// empty for a new ShadowPod.
std::string refuse_ephemeral(const kube::json::object& before, const kube::json::object& after,
                             const PodPolicy& policy);

/// Whether `after` has more ephemeral containers than `before`.
bool adds_ephemeral(const kube::json::object& before, const kube::json::object& after);

}  // namespace liqo::core::admission
