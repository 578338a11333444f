// Files of YAML or JSON that the user has named.
#pragma once

#include <string>
#include <vector>

#include "kube/base/json.hpp"

namespace liqoctl {

/// The documents of a file. Failures name the file; Errc::missing where it cannot be read.
kube::Result<std::vector<kube::json::value>> read_documents(const std::string& path);
/// Likewise; "-" is standard input.
kube::Result<std::vector<kube::json::value>> read_documents_or_input(const std::string& path);

}  // namespace liqoctl
