// Configurations, certificates and tokens in files: read at once, because they are small.
#pragma once

#include <expected>
#include <string>

namespace kube::net {

/// All of a file. The error is that of the system (errno), and EFBIG for a file of more than `most` bytes.
std::expected<std::string, int> read_file(const std::string& path, std::size_t most);

}  // namespace kube::net
