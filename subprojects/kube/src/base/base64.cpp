#include "kube/base/base64.hpp"

#include <array>
#include <cstdint>

namespace kube {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto reverse = [] {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i) table[std::uint8_t(alphabet[i])] = std::int8_t(i);
  return table;
}();

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    std::uint32_t group = std::uint32_t(std::uint8_t(bytes[i])) << 16;
    if (left > 1) group |= std::uint32_t(std::uint8_t(bytes[i + 1])) << 8;
    if (left > 2) group |= std::uint8_t(bytes[i + 2]);
    out += alphabet[group >> 18];
    out += alphabet[(group >> 12) & 63];
    out += left > 1 ? alphabet[(group >> 6) & 63] : '=';
    out += left > 2 ? alphabet[group & 63] : '=';
  }
  return out;
}

Result<std::string> decode_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int filled = 0, padding = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      if (filled < 2 || ++padding + filled > 4) return fail(Errc::parse, "base64: misplaced padding");
      continue;
    }
    const int value = reverse[std::uint8_t(c)];
    if (value < 0) return fail(Errc::parse, "base64: a character outside the alphabet");
    if (padding > 0) return fail(Errc::parse, "base64: text after the padding");
    group = group << 6 | std::uint32_t(value);
    if (++filled == 4) {
      out += char(group >> 16);
      out += char(group >> 8 & 255);
      out += char(group & 255);
      group = 0;
      filled = 0;
    }
  }
  if (filled + padding != 0 && filled + padding != 4) return fail(Errc::parse, "base64: the text is cut short");
  if (filled == 3) {
    out += char(group >> 10);
    out += char(group >> 2 & 255);
  } else if (filled == 2) {
    out += char(group >> 4);
  }
  return out;
}

}  // namespace kube
