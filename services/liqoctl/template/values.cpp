#include "template/values.hpp"

#include <algorithm>
#include <string>

#include "kube/base/scalar.hpp"

namespace liqoctl::chart {
namespace {

namespace json = kube::json;
using kube::Errc;

json::value typed(std::string_view text, bool as_string) {
  if (as_string) return json::value(text);
  if (text == "null") return nullptr;
  if (text == "true") return true;
  if (text == "false") return false;
  const bool leading_zero = text.size() > 1 && text.front() == '0';
  if (const auto whole = kube::read_number<std::int64_t>(text); whole && !leading_zero) return *whole;
  return json::value(text);
}

/// Cuts at the first of `separators` that has no backslash before it, and removes the backslashes.
std::string cut(std::string_view& rest, std::string_view separators) {
  std::string out;
  std::size_t i = 0;
  for (; i < rest.size() && !separators.contains(rest[i]); ++i) {
    if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
    out += rest[i];
  }
  rest.remove_prefix(i);
  return out;
}

}  // namespace

kube::Result<void> set_value(json::object& values, std::string_view assignment, bool as_string) {
  while (!assignment.empty()) {
    const std::size_t equal = assignment.find('=');
    if (equal == 0 || equal == std::string_view::npos)
      return kube::fail(Errc::invalid_input, "'" + std::string(assignment) + "' is not key=value");
    std::string_view path = assignment.substr(0, equal);
    assignment.remove_prefix(equal + 1);
    json::value value;
    if (assignment.starts_with('{')) {
      json::array list;
      do {
        assignment.remove_prefix(1);
        std::string item = cut(assignment, ",}");
        if (!item.empty()) list.push_back(typed(item, as_string));
      } while (assignment.starts_with(','));
      if (!assignment.starts_with('}')) return kube::fail(Errc::invalid_input, "a list is not closed by }");
      assignment.remove_prefix(1);
      value = std::move(list);
    } else {
      value = typed(cut(assignment, ","), as_string);
    }
    if (!assignment.empty() && assignment.front() != ',')
      return kube::fail(Errc::invalid_input, "a list is followed by '" + std::string(assignment) + "'");
    assignment.remove_prefix(std::min<std::size_t>(1, assignment.size()));
    json::object* at = &values;
    while (true) {
      const std::string part = cut(path, ".");
      if (part.empty()) return kube::fail(Errc::invalid_input, "a key has an empty part");
      if (part.ends_with(']'))
        return kube::fail(Errc::unsupported, "elements of lists are not set by number: give the whole list, " +
                                                 part.substr(0, part.find('[')) +
                                                 "={a,b}, or, if its elements are maps, a file of values (-f)");
      if (path.empty()) {
        (*at)[part] = std::move(value);
        break;
      }
      path.remove_prefix(1);
      at = &kube::ensure_object(*at, part);
    }
  }
  return {};
}

void overlay(json::object& values, const json::object& over) {
  for (const auto& [key, value] : over) {
    json::value* there = values.if_contains(key);
    if (there && there->is_object() && value.is_object()) {
      overlay(there->get_object(), value.get_object());
    } else {
      values[key] = value;
    }
  }
}

json::object with_defaults(json::object given, const json::object& defaults) {
  for (const auto& [key, value] : defaults) {
    json::value* there = given.if_contains(key);
    if (!there) {
      given[key] = value;
    } else if (there->is_null()) {
      given.erase(key);
    } else if (there->is_object() && value.is_object()) {
      *there = with_defaults(std::move(there->get_object()), value.get_object());
    }
  }
  return given;
}

}  // namespace liqoctl::chart
