#include "text/width.hpp"

#include <cstdint>

#include "kube/base/json.hpp"

namespace liqoctl::text {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t size = 1;  ///< bytes of the text; 1 where they are no UTF-8
  bool valid = false;
};

/// The first code point of a text that is not empty (RFC 3629: shortest form, no surrogates).
CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {.value = lead, .valid = true};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (size == 0 || lead > 0xF4 || text.size() < size) return {};
  char32_t value = lead & (0x7F >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < smallest[size] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {.value = value, .size = size, .valid = true};
}

/// Controls (C0, DEL, C1), what turns the direction of writing, and what takes no room: a terminal obeys or hides them.
bool acts_on_terminals(char32_t point) {
  const auto within = [point](char32_t first, char32_t last) { return point >= first && point <= last; };
  return point < 0x20 || within(0x7F, 0x9F) || point == 0xAD || point == 0x61C || point == 0x180E ||
         within(0x200B, 0x200F) || within(0x2028, 0x202E) || within(0x2060, 0x206F) || point == 0xFEFF ||
         within(0xFFF9, 0xFFFB) || within(0xE0000, 0xE007F);
}

void append_hex(std::string& out, char32_t number, int digits) {
  while (digits-- > 0) out += "0123456789abcdef"[(number >> (4 * digits)) & 0xF];
}

}  // namespace

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

std::string shortened(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) return std::string(text);
  std::string out;
  for (std::size_t used = 0; used + 1 < columns; ++used) {
    const std::size_t size = first_code_point(text).size;
    out += text.substr(0, size);
    text.remove_prefix(size);
  }
  return out + "…";
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (next.value == '\n' || next.value == '\t') {
      out += ' ';
    } else if (!next.valid || acts_on_terminals(next.value)) {
      out += '?';
    } else {
      out += text.substr(0, next.size);
    }
    text.remove_prefix(next.size);
  }
  return out;
}

std::string in_double_quotes(std::string_view text, Quotes quotes) {
  std::string out;
  const std::string plain = kube::json::serialize(kube::json::string(text));
  for (std::string_view rest = plain; !rest.empty();) {
    const CodePoint next = first_code_point(rest);
    if (!next.valid || !acts_on_terminals(next.value)) {
      out += rest.substr(0, next.size);
    } else if (next.value < 0x10000) {
      append_hex(out += "\\u", next.value, 4);
    } else if (quotes == Quotes::yaml) {
      append_hex(out += "\\U", next.value, 8);
    } else {  // as two surrogates
      append_hex(out += "\\u", 0xD800 + ((next.value - 0x10000) >> 10), 4);
      append_hex(out += "\\u", 0xDC00 + ((next.value - 0x10000) & 0x3FF), 4);
    }
    rest.remove_prefix(next.size);
  }
  return out;
}

bool acts_on_terminals(std::string_view text) {
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (!next.valid || acts_on_terminals(next.value)) return true;
    text.remove_prefix(next.size);
  }
  return false;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return out;
}

}  // namespace liqoctl::text
