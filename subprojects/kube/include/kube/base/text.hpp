// Words and lists in text: the blanks around a word, its case, its escapes, cutting at a separator, and joining.
#pragma once

#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// The text without the blanks at its ends: spaces and tabs, if `blanks` names no others.
constexpr std::string_view trim(std::string_view text, std::string_view blanks = " \t") {
  const std::size_t start = text.find_first_not_of(blanks);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(blanks) - start + 1);
}

/// The text with its ASCII letters in lower case.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

/// The value of a metric's label, as it is between the quotes of a line in the text format of Prometheus.
inline std::string escape_label(std::string_view value) {
  std::string escaped;
  escaped.reserve(value.size());
  for (const char c : value) {
    if (c == '\\' || c == '"' || c == '\n') escaped += '\\';
    escaped += c == '\n' ? 'n' : c;
  }
  return escaped;
}

/// The parts of a list; empty ones are left out. The parts point into the text.
inline std::vector<std::string_view> split(std::string_view list, char separator) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(separator));
    if (!part.empty()) parts.push_back(part);
    list.remove_prefix(part.size() < list.size() ? part.size() + 1 : part.size());
  }
  return parts;
}

/// The texts of a range with the separator between them.
std::string join(const std::ranges::input_range auto& texts, std::string_view separator) {
  std::string joined;
  bool is_first = true;
  for (const auto& text : texts) {
    if (!is_first) joined += separator;
    joined += text;
    is_first = false;
  }
  return joined;
}

/// The first texts of a range, at most `max`, and how many more there are: "a, b and 2 more".
std::string join_some(const std::ranges::sized_range auto& texts, std::size_t max) {
  const std::string some = join(texts | std::views::take(max), ", ");
  const std::size_t size = std::ranges::size(texts);
  return size > max ? some + " and " + std::to_string(size - max) + " more" : some;
}

}  // namespace kube
