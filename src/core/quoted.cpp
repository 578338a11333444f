#include "liqo/core/quoted.hpp"

namespace liqo::core {
namespace {

/// The bytes of the character if terminals and pages act on it instead of showing it, 0 otherwise: control and
/// zero-width characters, line separators, and marks that turn the direction of writing.
std::size_t control_size(std::string_view text) {
  const auto byte = [text](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const unsigned first = byte(0), second = byte(1), third = byte(2);
  if (first < 0x20 || first == 0x7f) return 1;
  if (first == 0xc2 && second >= 0x80 && second <= 0x9f) return 2;
  if (first != 0xe2) return 0;
  const bool separates_or_turns =
      second == 0x80 && ((third >= 0x8b && third <= 0x8f) || (third >= 0xa8 && third <= 0xae));
  const bool isolates = second == 0x81 && third >= 0xa6 && third <= 0xa9;
  return separates_or_turns || isolates ? 3 : 0;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t most) {
  std::string line;
  bool is_apart = false;
  for (text = cut_text(text, most); !text.empty();) {
    const std::size_t control = text.front() == ' ' ? 1 : control_size(text);
    is_apart = is_apart || control > 0;
    if (control == 0) {
      if (is_apart && !line.empty()) line += ' ';
      is_apart = false;
      line += text.front();
    }
    text.remove_prefix(control > 0 ? control : 1);
  }
  return line;
}

}  // namespace liqo::core
