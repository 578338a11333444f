// Rule for the owner references of what a consumer writes into its twins.
#pragma once

#include <string_view>

#include "core/admission/review.hpp"

namespace liqo::core::admission {

/// Whether a consumer's request adds an owner to an object in a namespace of `consumer` ("" if it is no consumer's). If
/// not, the namespace need not be read.
bool adds_owner(const Request& request, std::string_view consumer);

/// Rule for such a request, given the Namespace as the API server has it now; null = there is none. The one owner that
/// a consumer may name is that Namespace, by its present UID, neither as the controller nor as one that blocks. What
/// names any other could hold up or steer what the provider owns, and what names a former Namespace would be removed
/// as soon as it is stored. Everybody else passes.
Answer check_owners(const Request& request, std::string_view consumer, const kube::Object* live);

}  // namespace liqo::core::admission
