// How large an object of a consumer may be in its twins.
#pragma once

#include <cstdint>
#include <string_view>

#include "liqo/core/admission/pod_policy.hpp"
#include "liqo/core/admission/review.hpp"
#include "liqo/core/quota/resources.hpp"

namespace liqo::core::admission {

/// How many objects a ResourceQuota counts ("count/…") in what it says to be in use.
std::int64_t counted_objects(const Resources& used);

/// Rule for an object that a consumer writes into a namespace of `consumer` ("" where it is nobody's), whose twins hold
/// so many `objects`; everybody else passes. Were all of them as large as this one, they would still be within
/// `maxTwinBytes` of the policy: so the sum is bounded without anybody who adds it up. What becomes no larger passes.
Answer check_size(const Request& request, std::string_view consumer, std::int64_t objects, const PodPolicy& policy);

}  // namespace liqo::core::admission
