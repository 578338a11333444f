// Configurations, certificates and tokens in files: read at once, because they are small.
#pragma once

#include <cstddef>
#include <string>

#include "kube/base/failure.hpp"

namespace kube::net {

/// The most bytes of a configuration, certificate or token: far more than people have.
inline constexpr std::size_t max_file_bytes = std::size_t{1} << 20;

/// All of a file. Blocks. Errors, whose texts name the file: Errc::missing (there is none), Errc::too_large (it has
/// more than `max_bytes`, a whole number of MiB; no more than that is read), Errc::invalid_input (it cannot be read).
Result<std::string> read_file(const std::string& path, std::size_t max_bytes = max_file_bytes);

}  // namespace kube::net
