// How pods are reached, as a consumer reflects it into its twin namespaces: Services and Ingresses of its own pods
// pass, and what takes the traffic of others does not.
#pragma once

#include <functional>
#include <string_view>

#include "liqo/core/admission/pod_policy.hpp"
#include "liqo/core/admission/review.hpp"

namespace liqo::core::admission {

/// Whether a namespace of this cluster belongs to the consumer that asks.
using IsOwnNamespace = std::function<bool(std::string_view ns)>;

/// Rules for a Service that a consumer writes into a namespace of `consumer` ("" where it is nobody's); everybody else
/// passes. Addresses that the Service names itself (`externalIPs`, `loadBalancerIP`) would take traffic that is not the
/// consumer's (CVE-2020-8554), and are refused unless the policy says otherwise, as is an `externalName` that leads to
/// somebody else in this cluster. All types pass that the policy does not refuse, because Go Liqo reflects all. What a
/// stored Service has already can stay.
Answer check_service(const Request& request, std::string_view consumer, const PodPolicy& policy,
                     const IsOwnNamespace& is_own);

/// The same for an Ingress: where the policy lists hosts, every rule names one of them.
Answer check_ingress(const Request& request, std::string_view consumer, const PodPolicy& policy);

/// True for a host that the list names, or that is below one of its "*.domain"; "*" is any, also "".
bool is_listed_host(std::string_view host, const std::vector<std::string>& list);

}  // namespace liqo::core::admission
