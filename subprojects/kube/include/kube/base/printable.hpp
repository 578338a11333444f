// What somebody else wrote, for people to read.
#pragma once

#include <algorithm>
#include <string>

namespace kube {

/// The text with spaces for its control characters, line breaks among them: it moves no cursor and forges no line.
inline std::string printable(std::string text) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace kube
