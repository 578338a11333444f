// Reading YAML (which JSON is a part of) that people write: manifests, values, kubeconfigs.
#pragma once

#include <string_view>
#include <vector>

#include "kube/base/json.hpp"

namespace kube::wire {

/// The documents of a stream of at most 8 MiB; empty ones are left out. Plain scalars are null, booleans, integers or
/// numbers if they read as such (null, ~, true, false and decimal numbers without a plus sign), everything else is a
/// string. Errors: Errc::parse, Errc::too_large.
Result<std::vector<json::value>> read_yaml(std::string_view text);

}  // namespace kube::wire
