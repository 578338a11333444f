#include "model/install/kinds.hpp"

#include <algorithm>
#include <set>

namespace liqoctl::model {
namespace {

namespace json = kube::json;
using kube::array_at;
using kube::bool_at;
using kube::object_at;
using kube::string_at;

const json::value* version_of(const json::value& definition, std::string_view name) {
  for (const json::value& version : array_at(definition, {"spec", "versions"}))
    if (string_at(version, {"name"}) == name && bool_at(version, {"served"})) return &version;
  return nullptr;
}

/// The types that a schema allows; empty: any.
std::set<std::string> types_of(const json::value& schema) {
  std::set<std::string> types;
  if (bool_at(schema, {"x-kubernetes-int-or-string"})) types = {"integer", "string"};
  if (const auto type = string_at(schema, {"type"}); !type.empty()) {
    types.emplace(type);
  } else if (kube::find(schema, {"properties"}) || kube::find(schema, {"additionalProperties"})) {
    types.emplace("object");
  } else if (kube::find(schema, {"items"})) {
    types.emplace("array");
  }
  if (types.contains("number")) types.emplace("integer");
  if (!types.empty() && bool_at(schema, {"nullable"})) types.emplace("null");
  return types;
}

/// Adds the types that only the first schema allows. Returns whether the schemas have a type in common.
bool compare_types(const json::value& schema, const json::value& other, const std::string& path,
                   std::vector<std::string>& lost) {
  const auto types = types_of(schema), theirs = types_of(other);
  if (theirs.empty()) return true;
  if (types.empty()) {
    lost.push_back(path + " as anything");
    return true;
  }
  std::size_t common = 0;
  for (const std::string& type : types) {
    if (theirs.contains(type)) {
      ++common;
    } else {
      lost.push_back(path + " as " + type);
    }
  }
  return common > 0;
}

bool has_word(const json::array& words, const json::value& word) {
  return std::ranges::find(words, word) != words.end();
}

/// Adds what the first schema allows and the other does not.
void compare(const json::value& schema, const json::value& other, const std::string& path,
             std::vector<std::string>& lost) {
  // If the types differ, nothing below them can be compared.
  if (!compare_types(schema, other, path, lost)) return;
  for (const json::value& name : array_at(other, {"required"})) {
    const auto* text = name.if_string();
    // A field with a default is never missing.
    if (!text || has_word(array_at(schema, {"required"}), name) ||
        kube::find(other, {"properties", std::string_view(*text), "default"}))
      continue;
    lost.push_back(path + " without " + std::string(*text));
  }
  if (bool_at(other, {"x-kubernetes-preserve-unknown-fields"})) return;
  if (bool_at(schema, {"x-kubernetes-preserve-unknown-fields"})) lost.push_back(path + ".*");
  const json::array& words = array_at(other, {"enum"});
  if (!words.empty()) {
    const json::array& before = array_at(schema, {"enum"});
    if (before.empty()) lost.push_back(path);
    for (const json::value& word : before)
      if (!has_word(words, word)) lost.push_back(path + "=" + json::serialize(word));
  }
  for (const auto& [name, field] : object_at(schema, {"properties"})) {
    const std::string below = path + "." + std::string(name);
    if (const json::value* there = kube::find(other, {"properties", name})) {
      compare(field, *there, below, lost);
    } else {
      lost.push_back(below);
    }
  }
  for (const char* key : {"items", "additionalProperties"}) {
    const json::value* below = kube::find(schema, {key});
    if (!below) continue;
    if (const json::value* there = kube::find(other, {key})) {
      compare(*below, *there, path + "[]", lost);
    } else {
      lost.push_back(path + "[]");
    }
  }
}

}  // namespace

std::vector<std::string> lost_between(const json::value& definition, const json::value& other) {
  std::vector<std::string> lost;
  for (const json::value& version : array_at(definition, {"spec", "versions"})) {
    if (!bool_at(version, {"served"})) continue;
    const std::string name(string_at(version, {"name"}));
    const json::value* there = version_of(other, name);
    const json::value* schema = kube::find(version, {"schema", "openAPIV3Schema"});
    const json::value* theirs = there ? kube::find(*there, {"schema", "openAPIV3Schema"}) : nullptr;
    if (!there) {
      lost.push_back(name);
      continue;
    }
    for (const auto& [subresource, _] : object_at(version, {"subresources"}))
      if (!kube::find(*there, {"subresources", subresource})) lost.push_back(name + "/" + std::string(subresource));
    if (schema && theirs) compare(*schema, *theirs, name, lost);
  }
  std::ranges::sort(lost);
  return lost;
}

}  // namespace liqoctl::model
