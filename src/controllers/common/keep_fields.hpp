// Strips an object, before a cache stores it, to the fields that are read.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "kube/base/json.hpp"

namespace liqo::controllers {

/// Removes all other fields from the object.
inline void keep_fields(kube::json::object& object, std::initializer_list<std::string_view> fields) {
  kube::json::object kept;
  for (const std::string_view field : fields)
    if (kube::json::value* value = object.if_contains(field)) kept[field] = std::move(*value);
  object = std::move(kept);
}

/// Removes all other fields from the part of that name, if it is an object.
inline void keep_fields_of(kube::json::object& tree, std::string_view part,
                           std::initializer_list<std::string_view> fields) {
  if (kube::json::value* value = tree.if_contains(part); value && value->is_object())
    keep_fields(value->get_object(), fields);
}

}  // namespace liqo::controllers
