// Writes YAML: JSON trees as people read them. Any YAML parser reads the same tree back.
#pragma once

#include <string>

#include "kube/base/json.hpp"

namespace liqoctl::text {

/// Block style, keys sorted, text of several lines as a literal block. Ends with a line break.
std::string yaml(const kube::json::value& value);
/// JSON with two spaces per level, keys in their order. Ends with a line break.
std::string pretty_json(const kube::json::value& value);

}  // namespace liqoctl::text
