#include "kube/base/printable.hpp"

namespace kube {

// RFC 3629: the shortest form, and no surrogates.
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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (!next.valid) return false;
    text.remove_prefix(next.size);
  }
  return true;
}

bool acts_on_terminals(char32_t point) {
  const auto within = [point](char32_t first, char32_t last) { return point >= first && point <= last; };
  return point < 0x20 || within(0x7F, 0x9F) || point == 0xAD || point == 0x61C || point == 0x180E ||
         within(0x200B, 0x200F) || within(0x2028, 0x202E) || within(0x2060, 0x206F) || point == 0xFEFF ||
         within(0xFFF9, 0xFFFB) || within(0xE0000, 0xE007F);
}

bool acts_on_terminals(std::string_view text) {
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (!next.valid || acts_on_terminals(next.value)) return true;
    text.remove_prefix(next.size);
  }
  return false;
}

std::string_view cut_text(std::string_view text, std::size_t max) {
  if (text.size() <= max) return text;
  while (max > 0 && (static_cast<unsigned char>(text[max]) & 0xC0) == 0x80) --max;
  return text.substr(0, max);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (next.value == '\n' || next.value == '\r' || next.value == '\t') {
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

std::string one_line(std::string_view text, std::size_t max) {
  std::string line;
  bool is_apart = false;
  for (text = cut_text(text, max); !text.empty();) {
    const CodePoint next = first_code_point(text);
    if (!next.valid || next.value == ' ' || acts_on_terminals(next.value)) {
      is_apart = true;
    } else {
      if (is_apart && !line.empty()) line += ' ';
      is_apart = false;
      line += text.substr(0, next.size);
    }
    text.remove_prefix(next.size);
  }
  return line;
}

std::string in_quotes(std::string_view text, std::size_t max) { return "\"" + printable(cut_text(text, max)) + "\""; }

}  // namespace kube
