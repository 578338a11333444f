// Rules for the labels and annotations of what a consumer writes into its twins: those by which controllers of this
// cluster take orders have to be allowed by its policy.
// Tested by test/unit/core/policy/orders_test.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "core/admission/pod_firewall.hpp"
#include "core/admission/review.hpp"
#include "core/policy/orders.hpp"

namespace liqo::core::admission {

/// The labels and annotations of the object that a controller here would obey, unless the policy lists them
/// (`objectLabels`; `objectAnnotations`, `serviceAnnotations` or `ingressAnnotations`) or the stored object has them
/// with the same value. With `strictMetadata` also those that are not known. Stops after `max_found`.
std::vector<Finding> find_orders(const Request& request, TwinKind kind, const PodPolicy& policy, std::size_t max_found);

/// Rule for the metadata of a Secret or ConfigMap that a consumer writes into a namespace of `consumer` ("" if it is no
/// consumer's); everybody else passes.
Answer check_orders(const Request& request, std::string_view consumer, TwinKind kind, const PodPolicy& policy);

}  // namespace liqo::core::admission
