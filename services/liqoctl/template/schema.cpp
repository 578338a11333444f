#include "template/schema.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "template/numbers.hpp"
#include "text/suggest.hpp"

namespace liqoctl::chart {
namespace {

namespace json = kube::json;
using kube::Errc;

constexpr std::size_t max_matched = 4096;
constexpr int max_depth = 64;

bool is_of(const json::value& value, std::string_view type) {
  if (type == "integer") return value.is_number() && std::trunc(value.to_number<double>()) == value.to_number<double>();
  return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
         (type == "string" && value.is_string()) || (type == "number" && value.is_number()) ||
         (type == "boolean" && value.is_bool());
}

std::string in_words(std::string_view type) {
  static const std::map<std::string_view, std::string> words{
      {"integer", "a whole number"}, {"object", "a map"},    {"array", "a list"},
      {"string", "a text"},          {"number", "a number"}, {"boolean", "true or false"}};
  const auto found = words.find(type);
  return found == words.end() ? std::string(type) : found->second;
}

std::string shown(const json::value& value) {
  const std::string text = kube::printable(json::serialize(as_written(value)));
  return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

/// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

class Check {
 public:
  explicit Check(const json::object& schema) : root_(schema) { collect(schema, "", 0); }

  void run(const json::object& schema, const json::value& value, const std::string& path, int depth = 0) {
    if (depth > max_depth) return;
    for (const auto& [word, said] : schema) check_known(word);
    if (const json::value* reference = schema.if_contains("$ref")) {
      run(definition(*reference), value, path, depth + 1);
      return;
    }
    if (!has_type(schema, value, path) || !is_listed(schema, value, path)) return;
    if (value.is_number()) check_number(schema, value.to_number<double>(), path);
    if (const auto* text = value.if_string()) check_text(schema, *text, path);
    if (const auto* list = value.if_array(); list && schema.contains("items"))
      for (std::size_t i = 0; i < list->size(); ++i)
        run(schema.at("items").as_object(), (*list)[i], path + "[" + std::to_string(i) + "]", depth + 1);
    if (const auto* object = value.if_object()) check_object(schema, *object, path, depth);
  }

  std::vector<std::string> findings;
  std::optional<std::string> unknown_word;

 private:
  /// Ignoring an unknown keyword would give another result than Helm's.
  void check_known(std::string_view word) {
    static const std::set<std::string_view> known{"$schema",     "title",     "type",       "additionalProperties",
                                                  "definitions", "items",     "properties", "minimum",
                                                  "maximum",     "minLength", "pattern",    "enum",
                                                  "$ref",        "required"};
    if (!known.contains(word)) unknown_word = std::string(word);
  }

  void add(const std::string& path, const std::string& what) { findings.push_back("value " + path + " " + what); }

  const json::object& definition(const json::value& reference) const {
    constexpr std::string_view prefix = "#/definitions/";
    std::string_view name = reference.get_string();
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    return kube::object_at(root_, {"definitions", name});
  }

  bool has_type(const json::object& schema, const json::value& value, const std::string& path) {
    const json::value* wanted = schema.if_contains("type");
    if (!wanted) return true;
    std::vector<std::string> words;
    for (const json::value& type : wanted->is_array() ? wanted->get_array() : json::array{*wanted}) {
      if (is_of(value, type.get_string())) return true;
      words.push_back(in_words(type.get_string()));
    }
    add(path, "must be " + alternatives(words) + ", not " + shown(value));
    return false;
  }

  bool is_listed(const json::object& schema, const json::value& value, const std::string& path) {
    const json::value* listed = schema.if_contains("enum");
    if (!listed) return true;
    std::vector<std::string> words;
    for (const json::value& one : listed->get_array()) {
      if (one == value) return true;
      words.push_back(one.is_string() ? std::string(one.get_string()) : json::serialize(one));
    }
    add(path, "must be " + alternatives(words) + ", not " + shown(value));
    return false;
  }

  void check_number(const json::object& schema, double number, const std::string& path) {
    if (const json::value* least = schema.if_contains("minimum"); least && number < least->to_number<double>())
      add(path, "must be at least " + json::serialize(*least));
    if (const json::value* most = schema.if_contains("maximum"); most && number > most->to_number<double>())
      add(path, "must be at most " + json::serialize(*most));
  }

  void check_text(const json::object& schema, std::string_view text, const std::string& path) {
    if (const json::value* least = schema.if_contains("minLength");
        least && text.size() < least->to_number<std::size_t>())
      add(path, "must not be empty");
    const json::value* pattern = schema.if_contains("pattern");
    if (!pattern) return;
    if (text.size() > max_matched) {
      // Certificates are too long for the pattern engine.
      if (text.find_first_of(" \t\r\n") != std::string_view::npos) add(path, "has blanks or line breaks in it");
      return;
    }
    if (!std::regex_search(std::string(text), std::regex(std::string(pattern->get_string()))))
      add(path, "must match " + std::string(pattern->get_string()) + ", not be " + shown(json::value(text)));
  }

  void check_object(const json::object& schema, const json::object& object, const std::string& path, int depth) {
    const auto at = [&path](std::string_view key) {
      return path.empty() ? std::string(key) : path + "." + std::string(key);
    };
    if (const json::value* required = schema.if_contains("required"))
      for (const json::value& key : required->get_array())
        if (!object.contains(key.get_string())) add(at(key.get_string()), "is missing");
    const json::object& properties = kube::object_at(schema, {"properties"});
    const json::value* others = schema.if_contains("additionalProperties");
    for (const auto& [key, value] : object) {
      if (const json::value* known = properties.if_contains(key)) {
        run(known->as_object(), value, at(key), depth + 1);
      } else if (others && others->is_object()) {
        run(others->get_object(), value, at(key), depth + 1);
      } else if (others && *others == json::value(false)) {
        findings.push_back("value " + kube::printable(at(key)) + " is not known" + suggestion(properties, key, at("")));
      }
    }
  }

  std::string suggestion(const json::object& siblings, std::string_view key, const std::string& prefix) const {
    std::vector<std::string> names;
    for (const auto& [name, schema] : siblings) names.emplace_back(name);
    if (const std::string near = text::nearest(key, names); !near.empty())
      return ": did you mean " + prefix + near + "?";
    for (const std::string& path : paths_)
      if (kube::lower_case(path.substr(path.rfind('.') + 1)) == kube::lower_case(key))
        return ": did you mean " + path + "?";
    return "";
  }

  void collect(const json::object& schema, const std::string& prefix, int depth) {
    if (depth > max_depth) return;
    for (const auto& [name, inner] : kube::object_at(schema, {"properties"})) {
      paths_.push_back(prefix + std::string(name));
      collect(inner.as_object(), paths_.back() + ".", depth + 1);
    }
  }

  const json::object& root_;
  std::vector<std::string> paths_;
};

}  // namespace

kube::Result<std::vector<std::string>> check_values(const json::object& schema, const json::value& values) {
  Check check(schema);
  check.run(schema, values, "");
  if (check.unknown_word) return kube::fail(Errc::unsupported, "the schema says " + *check.unknown_word);
  return std::move(check.findings);
}

}  // namespace liqoctl::chart
