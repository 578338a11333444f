// Files of YAML or JSON that the user has named.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "kube/base/json.hpp"

namespace liqoctl {

/// The documents of a file. Failures name the file; Errc::missing if it cannot be read.
kube::Result<std::vector<kube::json::value>> read_documents(const std::string& path);
/// The documents of a file, or of `input` if the path is "-".
kube::Result<std::vector<kube::json::value>> read_documents_or_input(const std::string& path, std::istream& input);

}  // namespace liqoctl
