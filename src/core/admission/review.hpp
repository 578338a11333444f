// The names of kube::admission and kube::json that the rules of this folder use, and the words that they share.
// Tested by test/unit/core/admission/twin_size_test.cpp.
#pragma once

#include "kube/k8s/admission.hpp"

namespace liqo::core::admission {

namespace json = kube::json;

using namespace kube::admission;

/// The object as its writer knows it: `kind` and its name, or how the name begins if the server still has to complete
/// it.
std::string known_as(const Request& request, std::string_view kind);

}  // namespace liqo::core::admission
