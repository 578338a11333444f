#include "core/offloading/downward_text.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "kube/base/printable.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

struct Range {
  char32_t first, last;
};

/// Controls, separators, marks of formats and characters for private use, behind ASCII (Unicode 14).
constexpr Range not_printable[] = {{0x80, 0xA0},       {0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},
                                   {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},
                                   {0x1680, 0x1680},   {0x180E, 0x180E},   {0x2000, 0x200F},   {0x2028, 0x202F},
                                   {0x205F, 0x2064},   {0x2066, 0x206F},   {0x3000, 0x3000},   {0xD800, 0xF8FF},
                                   {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0x110BD, 0x110BD},
                                   {0x110CD, 0x110CD}, {0x13430, 0x13438}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
                                   {0xE0001, 0xE0001}, {0xE0020, 0xE007F}, {0xF0000, 0x10FFFF}};

bool is_printable(char32_t point) {
  // The last two characters of each plane are none.
  if ((point & 0xFFFEu) == 0xFFFEu) return false;
  return std::ranges::none_of(not_printable,
                              [point](const Range& range) { return range.first <= point && point <= range.last; });
}

/// Characters of ASCII that have an escape of their own; 0 = it has none.
char short_escape(char c) {
  constexpr std::string_view escaped = "\a\b\f\n\r\t\v\\\"", letters = "abfnrtv\\\"";
  const std::size_t place = escaped.find(c);
  return place == std::string_view::npos ? '\0' : letters[place];
}

/// A backslash, the mark and the number in that many hex digits.
void append_escape(std::string& out, char mark, std::uint32_t number, int digits) {
  (out += '\\') += mark;
  while (digits-- > 0) out += "0123456789abcdef"[(number >> (4 * digits)) & 0xFu];
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const kube::CodePoint point = kube::first_code_point(text);
    const std::string_view bytes = text.substr(0, point.size);
    text.remove_prefix(point.size);
    const auto byte = static_cast<unsigned char>(bytes.front());
    if (const char letter = short_escape(bytes.front()); letter != '\0')
      (out += '\\') += letter;
    else if (!point.valid || byte < ' ' || byte == 0x7F)
      append_escape(out, 'x', byte, 2);
    else if (byte < 0x80 || is_printable(point.value))
      out += bytes;
    else if (point.value < 0x10000)
      append_escape(out, 'u', point.value, 4);
    else
      append_escape(out, 'U', point.value, 8);
  }
  out += '"';
}

}  // namespace

std::string downward_text(const json::object& entries) {
  std::map<std::string_view, std::string_view> sorted;
  for (const auto& [key, value] : entries)
    if (const json::string* text = value.if_string()) sorted.emplace(key, *text);
  std::string file;
  for (const auto& [key, value] : sorted) {
    if (!file.empty()) file += '\n';
    file += key;
    file += '=';
    append_quoted(file, value);
  }
  return file;
}

}  // namespace liqo::core
