#include "close_text.hpp"

namespace kube::wire {

std::string close_text(std::string_view text, std::size_t levels) {
  std::string open, open_there;  // the brackets that close what is open: now, and at the last comma
  std::size_t end = 0, depth = 0;
  bool in_string = false, escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (escaped) {
        escaped = false;
      } else if (c == '\\') {
        escaped = true;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
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
