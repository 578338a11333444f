#include "text/width.hpp"

namespace liqoctl::text {

std::size_t width(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++count;
  return count;
}

std::string padded(std::string_view text, std::size_t columns) {
  std::string out(text);
  if (const std::size_t used = width(text); used < columns) out.append(columns - used, ' ');
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t') {
      out += ' ';
    } else if (byte < 0x20 || byte == 0x7F) {
      out += '?';
    } else {
      out += c;
    }
  }
  return out;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return out;
}

}  // namespace liqoctl::text
