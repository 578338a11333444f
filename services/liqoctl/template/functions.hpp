// The functions of Go's templates, of sprig and of Helm that the chart uses and that depend only on their arguments.
#pragma once

#include <span>
#include <string_view>

#include "kube/base/json.hpp"

namespace liqoctl::chart {

/// Whether templates take the value as false: false, 0, "", null, and empty lists and maps.
bool is_false(const kube::json::value& value);

/// `value` as an action prints it. Errors: Errc::unsupported for lists, maps and numbers of values, whose form the
/// template must make explicit.
kube::Result<std::string> printed(const kube::json::value& value);

/// Errors: Errc::unsupported for an unknown function, Errc::invalid_input for arguments that it does not take.
kube::Result<kube::json::value> call_function(std::string_view name, std::span<const kube::json::value> arguments);

}  // namespace liqoctl::chart
