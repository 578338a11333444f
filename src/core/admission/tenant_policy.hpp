// What is refused of a pod policy that somebody writes, and what is said of one that is stored.
// Tested by test/unit/core/admission/tenant_policy_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "core/common/review.hpp"

namespace liqo::core::admission {

/// Why a policy, as it is annotated on a tenant namespace, cannot be read; "" where it can. Some hundred printable
/// bytes at most.
std::string why_unreadable(std::string_view policy);

/// The flags of `liqoctl set tenant` that take away what cannot be read of a policy, e.g. "--unset maxResorces"; ""
/// where no few flags do: it is no JSON object, or has many such keys, or one that a shell would not take as it is.
std::string mending_flags(std::string_view policy);

/// Which command mends a policy that cannot be read: one that is no JSON object cannot be changed key by key. A clause.
std::string policy_remedy(std::string_view policy, std::string_view consumer);

/// Why nothing is forbidden by that name under `refusedServiceTypes`, as a clause that begins with the name; "" where
/// it is that of a type which can be refused, or "*".
std::string why_no_service_type(std::string_view name);

/// Likewise of the first such name among the types of Service that a policy refuses, readable or not; "" = there is
/// none.
std::string mistaken_service_type(std::string_view policy);

/// Namespace: a policy that is new or other than before can be read, where the namespace is a consumer's; it is new
/// where the namespace becomes one. One that is stored already may stay, so that the namespace can be written; so may a
/// type of Service that nobody knows.
Answer validate_tenant_namespace(const Request& request);

}  // namespace liqo::core::admission
