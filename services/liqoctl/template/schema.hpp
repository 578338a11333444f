// Checks values against values.schema.json, which Helm checks them against, too. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/base/json.hpp"

namespace liqoctl::chart {

/// One sentence for each value that is not as the schema wants it, without a full stop; of an unknown one it names the
/// nearest known one. Errors: Errc::unsupported for what the schema says and this does not know.
kube::Result<std::vector<std::string>> check_values(const kube::json::object& schema, const kube::json::value& values);

}  // namespace liqoctl::chart
