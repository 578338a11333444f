#include "core/common/digest.hpp"

#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "kube/base/hex.hpp"

namespace liqo::core {

std::string sha256_hex(std::string_view bytes) {
  std::array<char, SHA256_DIGEST_LENGTH> digest{};
  // Without SHA-256 all names and secrets would have the same digest, so the process cannot go on.
  if (!SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
              reinterpret_cast<unsigned char*>(digest.data())))
    std::abort();
  return kube::hex({digest.data(), digest.size()});
}

std::string digest_hex(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return kube::hex(hash, 16);
}

}  // namespace liqo::core
