// A field of an object that is left out if its value is empty.
// Tested by test/unit/core/peering/foreign_cluster_test.cpp and test/unit/core/slices/objects_test.cpp.
#pragma once

#include <string_view>
#include <utility>

#include "kube/base/json.hpp"

namespace liqo::core {

/// Sets the field, or removes it if the value is empty.
template <class T>
void set_or_erase(kube::json::object& parent, std::string_view key, T value) {
  if (value.empty()) {
    parent.erase(key);
  } else {
    parent[key] = std::move(value);
  }
}

}  // namespace liqo::core
