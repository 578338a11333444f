// Configurations, certificates and tokens in files: read at once, because they are small.
#pragma once

#include <cstddef>
#include <expected>
#include <string>

namespace kube::net {

/// All of a file. Blocks. The error is that of the system (errno), and EFBIG for a file of more than `max_bytes`, of
/// which no more is read than that.
std::expected<std::string, int> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace kube::net
