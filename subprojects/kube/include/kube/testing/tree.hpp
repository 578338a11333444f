// Changes of one place in the tree of an object, for tests that play another writer. kube::Object has the same for its
// own tree.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kube/base/json.hpp"

namespace kube::testing {

/// The object at the path. What is not there, or is no object, is made one.
inline json::object& ensure_path(json::object& tree, std::initializer_list<std::string_view> path) {
  json::object* at = &tree;
  for (const std::string_view key : path) at = &ensure_object(*at, key);
  return *at;
}

inline void set_label(json::object& tree, std::string_view key, std::string_view value) {
  ensure_path(tree, {"metadata", "labels"})[key] = value;
}
inline void remove_label(json::object& tree, std::string_view key) {
  ensure_path(tree, {"metadata", "labels"}).erase(key);
}
inline void set_annotation(json::object& tree, std::string_view key, std::string_view value) {
  ensure_path(tree, {"metadata", "annotations"})[key] = value;
}
inline void remove_annotation(json::object& tree, std::string_view key) {
  ensure_path(tree, {"metadata", "annotations"}).erase(key);
}

}  // namespace kube::testing
