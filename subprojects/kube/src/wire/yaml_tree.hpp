// One node of a YAML document as JSON, and the failure of a text that is no YAML.
#pragma once

#include <yaml-cpp/yaml.h>

#include "kube/base/json.hpp"

namespace kube::wire {

/// Plain scalars are read as read_yaml() says; `nodes_left` is what the tree may cost still, and goes down. Errors:
/// Errc::too_large (deeper than 64 levels, or more nodes than that).
Result<json::value> yaml_tree(const YAML::Node& node, std::size_t& nodes_left);

/// What is wrong with a text that yaml-cpp does not take, and in which of its lines: Errc::parse.
Failure yaml_failure(const YAML::Exception& error, std::string_view text);

}  // namespace kube::wire
