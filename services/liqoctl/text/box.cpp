#include "text/box.hpp"

#include <algorithm>

#include "text/width.hpp"

namespace liqoctl::text {
namespace {
constexpr std::size_t rule_width = 64;
constexpr std::size_t gap = 4;
}  // namespace

std::string render(const Section& section, std::size_t level) {
  const std::string indent(2 * level, ' ');
  std::string rule = indent + "─ " + section.title + " ";
  const std::size_t end = rule_width - std::min(level, rule_width);
  for (std::size_t used = width(rule); used < end; ++used) rule += "─";
  std::string out = rule + "\n";
  const std::string inner(2 * level + 2, ' ');
  for (const std::string& line : section.lines) out += inner + line + "\n";
  std::size_t longest = 0;
  for (const auto& [key, value] : section.fields) longest = std::max(longest, width(key));
  for (const auto& [key, value] : section.fields) out += inner + padded(key + ":", longest + 1 + gap) + value + "\n";
  for (const Section& part : section.sections) out += render(part, level + 1);
  return out;
}

}  // namespace liqoctl::text
