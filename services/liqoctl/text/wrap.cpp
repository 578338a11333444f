#include "text/wrap.hpp"

#include "kube/base/text.hpp"
#include "text/width.hpp"

namespace liqoctl::text {

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : kube::split(text, ' ')) {
    if (word.empty()) continue;
    if (!lines.back().empty() && width(lines.back()) + 1 + width(word) > columns) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

}  // namespace liqoctl::text
