// Label selectors as kubectl reads them, as node selector terms.
// Tested by test/unit/core/namespaces/namespace_selection_test.cpp.
#pragma once

#include <string_view>

#include "kube/base/json.hpp"

namespace liqo::core {

/// One requirement of a selector: {key, operator, values}, the last if there are any.
kube::json::object requirement(std::string_view key, std::string_view op, kube::json::array values = {});

/// The requirements of "a=b,c in (d,e),!f,g": objects {key, operator, values} of core/v1 NodeSelectorRequirement.
/// Errors: Errc::invalid_input.
kube::Result<kube::json::array> parse_selector(std::string_view text);

}  // namespace liqo::core
