// The digests of names.hpp: SHA-256 where other programs see it, FNV-1a where only changes are detected.
#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "liqo/core/names.hpp"

namespace liqo::core {
namespace {

void append_hex(std::string& out, std::uint64_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 15];
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  // Without SHA-256 all names and secrets would have the same digest, so the process cannot go on.
  if (!SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data())) std::abort();
  std::string hex;
  for (const unsigned char byte : digest) append_hex(hex, byte, 2);
  return hex;
}

std::string digest_hex(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string hex;
  append_hex(hex, hash, 16);
  return hex;
}

}  // namespace liqo::core
