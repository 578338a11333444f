// How large the objects in a consumer's twins may be.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/admission/review.hpp"
#include "core/common/resources.hpp"
#include "core/policy/pod_policy.hpp"

namespace liqo::core::admission {

/// The number of objects in the `status.used` of a ResourceQuota ("count/…").
std::int64_t counted_objects(const Resources& used);

/// Rule for an object that a consumer writes into a namespace of `consumer` ("" if it is no consumer's), whose twins
/// hold so many `objects`; everybody else passes. The object passes if as many objects of its size would still be
/// within `maxTwinBytes` of the policy, which bounds the sum without counting it. A change that makes an object no
/// larger passes, too.
Answer check_size(const Request& request, std::string_view consumer, std::int64_t objects, const PodPolicy& policy);

}  // namespace liqo::core::admission
