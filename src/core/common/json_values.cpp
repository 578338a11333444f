#include "core/common/json_values.hpp"

namespace liqo::core {
namespace json = kube::json;

bool is_empty(const json::value& value) {
  if (const json::object* object = value.if_object()) return object->empty();
  if (const json::array* array = value.if_array()) return array->empty();
  if (const json::string* text = value.if_string()) return text->empty();
  return value.is_null();
}

json::object* object_in(json::object& parent, std::string_view key) {
  json::value* found = parent.if_contains(key);
  return found ? found->if_object() : nullptr;
}

json::array* array_in(json::object& parent, std::string_view key) {
  json::value* found = parent.if_contains(key);
  return found ? found->if_array() : nullptr;
}

const json::value* find_named(const json::array& list, std::string_view name) {
  for (const json::value& entry : list)
    if (entry.is_object() && kube::string_at(entry, {"name"}) == name) return &entry;
  return nullptr;
}

}  // namespace liqo::core
