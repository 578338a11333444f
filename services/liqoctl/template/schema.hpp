// Checks values against values.schema.json, as Helm does. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/base/json.hpp"

namespace liqoctl::chart {

/// One sentence, without a full stop, for each value that breaks the schema. For an unknown value it names the nearest
/// known one. Errors: Errc::unsupported for a keyword of the schema that this does not know.
kube::Result<std::vector<std::string>> check_values(const kube::json::object& schema, const kube::json::value& values);

}  // namespace liqoctl::chart
