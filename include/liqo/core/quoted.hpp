// How foreign text stands in our sentences.
#pragma once

#include <string>
#include <string_view>

namespace liqo::core {

/// The text, cut after `most` bytes where that does not cut a character of UTF-8 in two.
inline std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

/// The text on one line: cut likewise, and with one space for each run of spaces, controls, and characters that end
/// lines or turn the direction of writing.
std::string one_line(std::string_view text, std::size_t most);

/// The text in double quotes, cut after `most` bytes: names and values of others are as long as others like.
/// (Not `quoted`, which finds std::quoted by its argument.)
inline std::string in_quotes(std::string_view text, std::size_t most = 100) {
  return "\"" + std::string(text.substr(0, most)) + "\"";
}

}  // namespace liqo::core
