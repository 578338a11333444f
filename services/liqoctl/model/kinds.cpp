#include "model/kinds.hpp"

#include <algorithm>

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

/// Adds what of one schema is not in the other.
void compare(const json::value& schema, const json::value& other, const std::string& path,
             std::vector<std::string>& lost) {
  if (bool_at(other, {"x-kubernetes-preserve-unknown-fields"})) return;
  const json::array& words = array_at(other, {"enum"});
  if (!words.empty()) {
    const json::array& before = array_at(schema, {"enum"});
    if (before.empty()) lost.push_back(path);
    for (const json::value& word : before)
      if (std::ranges::find(words, word) == words.end()) lost.push_back(path + "=" + json::serialize(word));
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
    } else if (schema && theirs) {
      compare(*schema, *theirs, name, lost);
    }
  }
  std::ranges::sort(lost);
  return lost;
}

}  // namespace liqoctl::model
