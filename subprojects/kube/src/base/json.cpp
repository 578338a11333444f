#include "kube/base/json_arena.hpp"

namespace kube {
namespace {

const json::value* descend(const json::object* at, std::initializer_list<std::string_view> path) {
  const json::value* found = nullptr;
  for (std::string_view key : path) {
    if (!at) return nullptr;
    found = at->if_contains(key);
    if (!found) return nullptr;
    at = found->if_object();
  }
  return found;
}
const json::object& no_object() {
  static const json::object none;
  return none;
}
const json::array& no_array() {
  static const json::array none;
  return none;
}

}  // namespace

const json::value* find(const json::value& root, std::initializer_list<std::string_view> path) {
  return path.size() == 0 ? &root : descend(root.if_object(), path);
}
const json::value* find(const json::object& root, std::initializer_list<std::string_view> path) {
  return descend(&root, path);
}

std::string_view string_at(const json::value& root, std::initializer_list<std::string_view> path) {
  const json::value* found = find(root, path);
  const json::string* text = found ? found->if_string() : nullptr;
  return text ? std::string_view(*text) : std::string_view();
}
std::string_view string_at(const json::object& root, std::initializer_list<std::string_view> path) {
  const json::value* found = find(root, path);
  const json::string* text = found ? found->if_string() : nullptr;
  return text ? std::string_view(*text) : std::string_view();
}

namespace {

std::int64_t int_of(const json::value* found, std::int64_t fallback) {
  if (!found) return fallback;
  if (const auto* number = found->if_int64()) return *number;
  if (const auto* number = found->if_uint64(); number && *number <= std::uint64_t(INT64_MAX))
    return std::int64_t(*number);
  return fallback;
}

bool bool_of(const json::value* found, bool fallback) {
  const bool* flag = found ? found->if_bool() : nullptr;
  return flag ? *flag : fallback;
}

}  // namespace

// A json::object is no json::value: without overloads of its own it would be copied, deep down, into one.
std::int64_t int_at(const json::value& root, std::initializer_list<std::string_view> path, std::int64_t fallback) {
  return int_of(find(root, path), fallback);
}
std::int64_t int_at(const json::object& root, std::initializer_list<std::string_view> path, std::int64_t fallback) {
  return int_of(find(root, path), fallback);
}

bool bool_at(const json::value& root, std::initializer_list<std::string_view> path, bool fallback) {
  return bool_of(find(root, path), fallback);
}
bool bool_at(const json::object& root, std::initializer_list<std::string_view> path, bool fallback) {
  return bool_of(find(root, path), fallback);
}

const json::object& object_at(const json::value& root, std::initializer_list<std::string_view> path) {
  const json::value* found = find(root, path);
  const json::object* object = found ? found->if_object() : nullptr;
  return object ? *object : no_object();
}
const json::object& object_at(const json::object& root, std::initializer_list<std::string_view> path) {
  const json::value* found = find(root, path);
  const json::object* object = found ? found->if_object() : nullptr;
  return object ? *object : no_object();
}
const json::array& array_at(const json::value& root, std::initializer_list<std::string_view> path) {
  const json::value* found = find(root, path);
  const json::array* array = found ? found->if_array() : nullptr;
  return array ? *array : no_array();
}
const json::array& array_at(const json::object& root, std::initializer_list<std::string_view> path) {
  const json::value* found = find(root, path);
  const json::array* array = found ? found->if_array() : nullptr;
  return array ? *array : no_array();
}

std::vector<std::string> strings_in(const json::array& list) {
  std::vector<std::string> texts;
  for (const json::value& entry : list)
    if (const json::string* text = entry.if_string()) texts.emplace_back(*text);
  return texts;
}

std::optional<std::vector<std::string>> read_strings(const json::value& list) {
  const json::array* entries = list.if_array();
  if (!entries) return std::nullopt;
  auto texts = strings_in(*entries);
  if (texts.size() != entries->size()) return std::nullopt;
  return texts;
}

namespace {

json::value& field(json::object& parent, std::string_view key) {
  // operator[] makes room for one more field before it looks, and so moves the fields of a full object.
  json::value* const there = parent.if_contains(key);
  return there ? *there : parent[key];
}

}  // namespace

json::object& ensure_object(json::object& parent, std::string_view key) {
  json::value& slot = field(parent, key);
  if (!slot.is_object()) slot = json::object(parent.storage());
  return slot.get_object();
}

json::array& ensure_array(json::object& parent, std::string_view key) {
  json::value& slot = field(parent, key);
  if (!slot.is_array()) slot = json::array(parent.storage());
  return slot.get_array();
}

std::size_t count_values(std::string_view text, std::size_t enough) {
  // Every value but the first follows a comma or is the first of its list or object.
  const auto begins = [](char c) { return std::size_t(c == ',') + std::size_t(c == '[') + std::size_t(c == '{'); };
  std::size_t count = 1;
  for (const char c : text) count += begins(c);
  if (count <= enough) return count;
  count = 1;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') in_string = !in_string;
    if (!in_string) {
      count += begins(c);
    } else if (c == '\\') {
      ++at;
    }
  }
  return count;
}

}  // namespace kube
