#include "template/functions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <regex>
#include <vector>

#include "kube/base/scalar.hpp"
#include "kube/wire/yaml.hpp"
#include "template/numbers.hpp"
#include "text/width.hpp"
#include "text/yaml.hpp"

namespace liqoctl::chart {
namespace {

namespace json = kube::json;
using kube::Errc;
using Arguments = std::span<const json::value>;
using Returned = kube::Result<json::value>;

/// Patterns of charts are matched by backtracking, so the text that they match, a name, has a bound.
constexpr std::size_t max_matched = 512;
constexpr std::size_t max_width = 1000;

std::unexpected<kube::Failure> wrong(const std::string& what) { return kube::fail(Errc::invalid_input, what); }

std::string_view text_of(const json::value& value) { return value.get_string(); }

std::string trimmed(std::string_view text, std::string_view cut) {
  const std::size_t start = std::min(text.find_first_not_of(cut), text.size());
  const std::size_t end = text.find_last_not_of(cut);
  return end == std::string_view::npos ? "" : std::string(text.substr(start, end + 1 - start));
}

std::string without_line_break(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Returned text_of_any(const json::value& value) {
  KUBE_TRY(text, printed(value));
  return json::value(text);
}

Returned read_yaml(const json::value& text, bool list) {
  KUBE_TRY(documents, kube::wire::read_yaml(text_of(text)));
  if (documents.size() != 1 || (list ? !documents.front().is_array() : !documents.front().is_object()))
    return wrong(list ? "the text is no list" : "the text is no map");
  return as_values(std::move(documents.front()));
}

Returned format(Arguments arguments) {
  std::string out;
  std::string_view pattern = text_of(arguments.front());
  arguments = arguments.subspan(1);
  while (!pattern.empty()) {
    const std::size_t percent = std::min(pattern.find('%'), pattern.size());
    out += pattern.substr(0, percent);
    pattern.remove_prefix(percent);
    if (pattern.empty()) break;
    if (!pattern.starts_with("%s") || arguments.empty() || !arguments.front().is_string())
      return kube::fail(Errc::unsupported, "only %s is known, for a text");
    out += text_of(arguments.front());
    arguments = arguments.subspan(1);
    pattern.remove_prefix(2);
  }
  if (!arguments.empty()) return wrong("there are more arguments than the format takes");
  return json::value(out);
}

Returned index(Arguments arguments) {
  const auto* list = arguments[0].if_array();
  const auto* at = arguments[1].if_int64();
  if (!list || !at || *at < 0 || std::size_t(*at) >= list->size()) return wrong("there is no such element");
  return (*list)[std::size_t(*at)];
}

Returned whole_number(const json::value& value) {
  if (value.is_int64()) return value;
  if (const auto* number = value.if_double(); number && std::abs(*number) < 9e15) return std::int64_t(*number);
  if (const auto* text = value.if_string())
    if (const auto number = kube::read_number<std::int64_t>(*text)) return *number;
  return wrong("the value is no whole number");
}

Returned equal(const json::value& left, const json::value& right) {
  if (left.kind() != right.kind() || left.is_structured())
    return wrong("values of different kinds, or lists and maps, are not compared");
  return left == right;
}

Returned greater(const json::value& left, const json::value& right) {
  if (!left.is_int64() || !right.is_int64()) return wrong("only whole numbers are compared: put both through int64");
  return left.get_int64() > right.get_int64();
}

Returned sum(const json::value& left, const json::value& right) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(left.get_int64(), right.get_int64(), &out)) return wrong("the sum is too large");
  return out;
}

Returned difference(const json::value& left, const json::value& right) {
  std::int64_t out = 0;
  if (__builtin_sub_overflow(left.get_int64(), right.get_int64(), &out)) return wrong("the difference is too large");
  return out;
}

Returned matches(const json::value& pattern, const json::value& text) {
  if (text_of(text).size() > max_matched) return wrong("the text is too long to be matched");
  try {
    return std::regex_search(std::string(text_of(text)), std::regex(std::string(text_of(pattern))));
  } catch (const std::regex_error& error) {
    return wrong(std::string("not a pattern: ") + error.what());
  }
}

Returned indented(const json::value& by, const json::value& text) {
  if (by.get_int64() < 0 || std::size_t(by.get_int64()) > max_width) return wrong("no such indentation");
  const std::string pad(std::size_t(by.get_int64()), ' ');
  std::string out = "\n" + pad;
  for (const char c : text_of(text)) out += c == '\n' ? "\n" + pad : std::string(1, c);
  return json::value(out);
}

/// JSON as Go writes it: 0.5 and not 5E-1.
Returned as_json(const json::value& value) {
  if (value.is_double()) return json::value(without_line_break(text::yaml(value)));
  return json::value(json::serialize(value));
}

Returned length(const json::value& value) {
  if (const auto* text = value.if_string()) return std::int64_t(text->size());
  if (const auto* list = value.if_array()) return std::int64_t(list->size());
  if (const auto* object = value.if_object()) return std::int64_t(object->size());
  return wrong("the value has no length");
}

Returned map_of(Arguments arguments) {
  json::object out;
  if (arguments.size() % 2 != 0) return wrong("a key has no value");
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (!arguments[i].is_string()) return wrong("a key is no text");
    out[arguments[i].get_string()] = arguments[i + 1];
  }
  return out;
}

Returned list_of_all(Arguments lists) {
  json::array out;
  for (const json::value& list : lists) {
    if (!list.is_array()) return wrong("an argument is no list");
    out.insert(out.end(), list.get_array().begin(), list.get_array().end());
  }
  return out;
}

Returned joined(const json::value& separator, const json::value& list) {
  std::string out;
  for (const json::value& item : list.get_array()) {
    KUBE_TRY(text, printed(item));
    out += (&item == list.get_array().data() ? "" : std::string(text_of(separator))) + text;
  }
  return json::value(out);
}

Returned appended(const json::value& list, const json::value& item) {
  json::array out = list.get_array();
  out.push_back(item);
  return out;
}

/// "" if the map has no such key.
Returned entry_of(const json::value& map, const json::value& key) {
  const json::value* found = map.get_object().if_contains(key.get_string());
  return found ? *found : json::value("");
}

Returned different(const json::value& left, const json::value& right) {
  KUBE_TRY(same, equal(left, right));
  return !same.get_bool();
}

Returned quoted(const json::value& value) {
  KUBE_TRY(plain, printed(value));
  return json::value(text::in_double_quotes(plain, text::Quotes::json));
}

/// The arguments of a function, a letter for each: s text, l list, m map, n whole number, b boolean, * anything. A last
/// + stands for any number of such arguments.
struct Function {
  std::string_view takes;
  std::function<Returned(Arguments)> call;
};

bool fits(char letter, const json::value& value) {
  switch (letter) {
    case 's':
      return value.is_string();
    case 'l':
      return value.is_array();
    case 'm':
      return value.is_object();
    case 'n':
      return value.is_int64();
    case 'b':
      return value.is_bool();
    default:
      return true;
  }
}

bool fits(std::string_view takes, Arguments arguments) {
  const bool open = takes.ends_with('+');
  if (open) takes.remove_suffix(1);
  if (open ? arguments.size() + 1 < takes.size() : arguments.size() != takes.size()) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!fits(takes[std::min(i, takes.size() - 1)], arguments[i])) return false;
  return true;
}

const std::map<std::string_view, Function>& functions() {
  static const std::map<std::string_view, Function> known{
      {"add", {"nn", [](Arguments a) { return sum(a[0], a[1]); }}},
      {"append", {"l*", [](Arguments a) { return appended(a[0], a[1]); }}},
      {"concat", {"l+", list_of_all}},
      {"default", {"**", [](Arguments a) -> Returned { return is_false(a[1]) ? a[0] : a[1]; }}},
      {"dict", {"*+", map_of}},
      {"eq", {"**", [](Arguments a) { return equal(a[0], a[1]); }}},
      {"fromYaml", {"s", [](Arguments a) { return read_yaml(a[0], false); }}},
      {"fromYamlArray", {"s", [](Arguments a) { return read_yaml(a[0], true); }}},
      {"get", {"ms", [](Arguments a) { return entry_of(a[0], a[1]); }}},
      {"gt", {"**", [](Arguments a) { return greater(a[0], a[1]); }}},
      {"has",
       {"*l",
        [](Arguments a) -> Returned { return std::ranges::find(a[1].get_array(), a[0]) != a[1].get_array().end(); }}},
      {"hasKey", {"ms", [](Arguments a) -> Returned { return a[0].get_object().contains(a[1].get_string()); }}},
      {"hasPrefix", {"ss", [](Arguments a) -> Returned { return text_of(a[1]).starts_with(text_of(a[0])); }}},
      {"index", {"*n", index}},
      {"int64", {"*", [](Arguments a) { return whole_number(a[0]); }}},
      {"join", {"sl", [](Arguments a) { return joined(a[0], a[1]); }}},
      {"len", {"*", [](Arguments a) { return length(a[0]); }}},
      {"list", {"*+", [](Arguments a) -> Returned { return json::array(a.begin(), a.end()); }}},
      {"ne", {"**", [](Arguments a) { return different(a[0], a[1]); }}},
      {"nindent", {"ns", [](Arguments a) { return indented(a[0], a[1]); }}},
      {"not", {"*", [](Arguments a) -> Returned { return is_false(a[0]); }}},
      {"printf", {"s*+", format}},
      {"quote", {"*", [](Arguments a) { return quoted(a[0]); }}},
      {"regexMatch", {"ss", [](Arguments a) { return matches(a[0], a[1]); }}},
      {"sub", {"nn", [](Arguments a) { return difference(a[0], a[1]); }}},
      {"ternary", {"**b", [](Arguments a) -> Returned { return a[2].get_bool() ? a[0] : a[1]; }}},
      {"toJson", {"*", [](Arguments a) { return as_json(as_written(a[0])); }}},
      {"toString", {"*", [](Arguments a) { return text_of_any(a[0]); }}},
      {"toYaml",
       {"*", [](Arguments a) -> Returned { return json::value(without_line_break(text::yaml(as_written(a[0])))); }}},
      {"trim", {"s", [](Arguments a) -> Returned { return json::value(trimmed(text_of(a[0]), " \t\r\n")); }}},
      {"trimAll", {"ss", [](Arguments a) -> Returned { return json::value(trimmed(text_of(a[1]), text_of(a[0]))); }}},
  };
  return known;
}

}  // namespace

bool is_false(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return true;
    case json::kind::bool_:
      return !value.get_bool();
    case json::kind::int64:
      return value.get_int64() == 0;
    case json::kind::uint64:
      return value.get_uint64() == 0;
    case json::kind::double_:
      return value.get_double() == 0;
    case json::kind::string:
      return value.get_string().empty();
    case json::kind::array:
      return value.get_array().empty();
    case json::kind::object:
      return value.get_object().empty();
  }
  return true;
}

kube::Result<std::string> printed(const json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  if (value.is_null()) return std::string();
  if (value.is_bool()) return std::string(value.get_bool() ? "true" : "false");
  if (value.is_int64()) return std::to_string(value.get_int64());
  return kube::fail(Errc::unsupported, "numbers of values, lists and maps are printed with int64, toJson or toYaml");
}

kube::Result<json::value> call_function(std::string_view name, std::span<const json::value> arguments) {
  const auto found = functions().find(name);
  if (found == functions().end()) return kube::fail(Errc::unsupported, "this function is not known here");
  if (!fits(found->second.takes, arguments)) return wrong("the arguments do not fit");
  return found->second.call(arguments);
}

}  // namespace liqoctl::chart
