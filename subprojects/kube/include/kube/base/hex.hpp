// Hexadecimal digits, in lower case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kube {

/// The lowest `digits` hexadecimal digits of a number, the highest of them first.
inline std::string hex(std::uint64_t number, int digits) {
  std::string text;
  while (digits-- > 0) text += "0123456789abcdef"[(number >> (4 * digits)) & 15];
  return text;
}

/// Two digits for each byte.
inline std::string hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) text += hex(static_cast<unsigned char>(byte), 2);
  return text;
}

}  // namespace kube
