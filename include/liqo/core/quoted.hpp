// Cuts and quotes text of others for our own sentences.
#pragma once

#include <string>
#include <string_view>

namespace liqo::core {

/// The text, cut to at most `most` bytes without splitting a UTF-8 character.
inline std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

/// The text on one line, cut as by cut_text(). Each run of spaces, control characters, line ends and characters that
/// change the direction of writing becomes one space.
std::string one_line(std::string_view text, std::size_t most);

/// The text in double quotes, cut after `most` bytes, because others choose how long their names and values are. It is
/// not called `quoted`, because argument-dependent lookup would find std::quoted.
inline std::string in_quotes(std::string_view text, std::size_t most = 100) {
  return "\"" + std::string(text.substr(0, most)) + "\"";
}

}  // namespace liqo::core
