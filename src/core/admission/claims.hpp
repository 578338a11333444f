// Rules for the volume claims of a consumer: they name a class that it was offered, and take no volume or data of
// others.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/admission/pod_firewall.hpp"
#include "core/admission/review.hpp"

namespace liqo::core::admission {

/// Rules for a PersistentVolumeClaim that a consumer writes into a namespace of `consumer` ("" if it is no consumer's);
/// everybody else passes. Its class is one of `offered`, or of the policy if that lists classes; it names no volume,
/// selects none, and takes no data from another namespace; its metadata gives no orders (orders.hpp). What a stored
/// claim has already may stay.
Answer check_claim(const Request& request, std::string_view consumer, const PodPolicy& policy,
                   std::span<const std::string> offered);

/// Whether a pod has templates of claims, for which the classes on offer have to be known.
bool has_claim_templates(const kube::json::object& pod_spec);

/// Checks the classes of the templates of claims in a pod; the pod firewall checks their other fields.
std::vector<Finding> check_claim_templates(const kube::json::object& pod_spec, const PodPolicy& policy,
                                           std::span<const std::string> offered);

}  // namespace liqo::core::admission
