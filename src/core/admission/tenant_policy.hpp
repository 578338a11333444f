// Rules for a pod policy that is written, and sentences about the mistakes in one that is stored.
// Tested by test/unit/core/admission/tenant_policy_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "core/admission/review.hpp"

namespace liqo::core::admission {

/// Why a policy, as it is annotated on a tenant namespace, cannot be read; "" if it can. A few hundred printable bytes
/// at most.
std::string why_unreadable(std::string_view policy);

/// The flags of `liqoctl set tenant` that remove from a policy what cannot be read, e.g. "--unset maxResorces". "" if a
/// few flags cannot do that: the policy is no JSON object, has many such keys, or has one that a shell would not take
/// as it is.
std::string mending_flags(std::string_view policy);

/// Which command mends a policy that cannot be read: one that is no JSON object cannot be changed key by key. A clause.
std::string policy_remedy(std::string_view policy, std::string_view consumer);

/// Why nothing is forbidden by that name under `refusedServiceTypes`, as a clause that begins with the name; "" if it
/// is that of a type which can be refused, or "*".
std::string why_no_service_type(std::string_view name);

/// Why the first mistaken name among the types of Service that a policy refuses forbids nothing, as a clause that
/// begins with the name. The policy may be unreadable otherwise. "" = there is no such name.
std::string mistaken_service_type(std::string_view policy);

/// Namespace of a consumer: a policy that is new or has changed has to be readable. It counts as new if the namespace
/// becomes a consumer's. A policy that is stored already may stay, so that the namespace can be written; so may an
/// unknown type of Service.
Answer validate_tenant_namespace(const Request& request);

}  // namespace liqo::core::admission
