#include "core/common/selector_text.hpp"

#include <vector>

#include "kube/base/text.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// Splits at commas outside parentheses.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> found;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      found.push_back(kube::trim(text.substr(start, i - start)));
      start = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return found;
}

bool is_key(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") ==
             std::string_view::npos;
}

kube::Result<json::object> parse_one(std::string_view text) {
  const auto mistake = kube::fail(kube::Errc::invalid_input, "'" + std::string(text) +
                                                                 "' is no selector such as region=south, "
                                                                 "'region in (south,north)' or '!region'");
  if (text.starts_with('!')) {
    const std::string_view key = kube::trim(text.substr(1));
    if (!is_key(key)) return mistake;
    return requirement(key, "DoesNotExist");
  }
  if (const std::size_t at = text.find('='); at != std::string_view::npos) {
    const bool negated = at > 0 && text[at - 1] == '!';
    const std::string_view key = kube::trim(text.substr(0, negated ? at - 1 : at));
    std::string_view value = text.substr(at + 1);
    if (!negated && value.starts_with('=')) value.remove_prefix(1);
    value = kube::trim(value);
    if (!is_key(key) || (!value.empty() && !is_key(value))) return mistake;
    return requirement(key, negated ? "NotIn" : "In", {json::value(value)});
  }
  if (const std::size_t open = text.find('('); open != std::string_view::npos) {
    if (!text.ends_with(')')) return mistake;
    const std::string_view head = kube::trim(text.substr(0, open));
    const std::size_t space = head.find_last_of(" \t");
    if (space == std::string_view::npos) return mistake;
    const std::string_view key = kube::trim(head.substr(0, space)), word = head.substr(space + 1);
    if (!is_key(key) || (word != "in" && word != "notin")) return mistake;
    json::array values;
    for (const std::string_view value : split(text.substr(open + 1, text.size() - open - 2))) {
      if (!is_key(value)) return mistake;
      values.emplace_back(value);
    }
    return requirement(key, word == "in" ? "In" : "NotIn", std::move(values));
  }
  if (!is_key(text)) return mistake;
  return requirement(text, "Exists");
}

}  // namespace

json::object requirement(std::string_view key, std::string_view op, json::array values) {
  json::object out{{"key", key}, {"operator", op}};
  if (!values.empty()) out["values"] = std::move(values);
  return out;
}

kube::Result<json::array> parse_selector(std::string_view text) {
  json::array out;
  for (const std::string_view part : split(text)) {
    KUBE_TRY(one, parse_one(part));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace liqo::core
