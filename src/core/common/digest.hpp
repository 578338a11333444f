// Digests: SHA-256 if other programs see it, FNV-1a if only changes are detected.
#pragma once

#include <string>
#include <string_view>

namespace liqo::core {

/// Hex of SHA-256 (FIPS 180-4).
std::string sha256_hex(std::string_view bytes);
/// 16 hex digits of a fast digest (FNV-1a 64): to see that something changed, not to detect an attack.
std::string digest_hex(std::string_view bytes);

}  // namespace liqo::core
