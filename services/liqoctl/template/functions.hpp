// The functions of Go's templates, of sprig and of Helm that the chart uses and that need nothing but their arguments.
#pragma once

#include <span>
#include <string_view>

#include "kube/base/json.hpp"

namespace liqoctl::chart {

/// What templates take for false: false, 0, "", nothing, and what is empty.
bool is_empty(const kube::json::value& value);

/// `text` as it is printed by an action. Errors: Errc::unsupported for lists, maps and numbers of values, whose form
/// must be said.
kube::Result<std::string> printed(const kube::json::value& value);

/// Errors: Errc::unsupported for an unknown function, Errc::invalid_input for arguments that it does not take.
kube::Result<kube::json::value> call_function(std::string_view name, std::span<const kube::json::value> arguments);

}  // namespace liqoctl::chart
