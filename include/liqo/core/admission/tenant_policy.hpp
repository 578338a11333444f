// What is refused of a pod policy that somebody writes, and what is said of one that is stored.
// Tested by test/unit/core/admission/tenant_policy_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "liqo/core/admission/review.hpp"

namespace liqo::core::admission {

/// Why the policy of a tenant namespace cannot be read, without the name of the namespace; "" where it can. At most
/// some hundred bytes.
std::string why_unreadable(const kube::Object& tenant_namespace);

/// Namespace: a policy that is new or other than before can be read, where the namespace is a consumer's. One that is
/// stored already may stay, so that the namespace can be written.
Answer validate_tenant_namespace(const Request& request);

}  // namespace liqo::core::admission
