#include "text/hex.hpp"

namespace liqoctl::text {

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made;
  for (const char byte : bytes) {
    made.push_back(digits[static_cast<unsigned char>(byte) >> 4]);
    made.push_back(digits[static_cast<unsigned char>(byte) & 15]);
  }
  return made;
}

}  // namespace liqoctl::text
