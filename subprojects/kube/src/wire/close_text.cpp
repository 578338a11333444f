#include "close_text.hpp"

#include "string_scanner.hpp"

namespace kube::wire {

std::string close_text(std::string_view text, std::size_t levels) {
  std::string open, open_there;  // the brackets that close what is open: now, and at the last comma
  std::size_t end = 0, depth = 0;
  StringScanner strings;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (strings.takes(c)) continue;
    if (c == '{' || c == '[') {
      if (++depth <= levels) open += c == '{' ? '}' : ']';
    } else if ((c == '}' || c == ']') && depth > 0) {
      if (depth-- <= levels) open.pop_back();
    } else if (c == ',' && depth <= levels) {
      end = i;
      open_there = open;
    }
  }
  return std::string(text.substr(0, end)).append(open_there.rbegin(), open_there.rend());
}

}  // namespace kube::wire
