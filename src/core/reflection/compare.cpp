#include "core/reflection/compare.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace liqo::core::reflection {
namespace json = kube::json;
namespace {

/// Go's `omitempty` leaves out all of these.
bool is_omitted(const json::value* value) {
  if (!value) return true;
  switch (value->kind()) {
    case json::kind::null:
      return true;
    case json::kind::bool_:
      return !value->get_bool();
    case json::kind::int64:
      return value->get_int64() == 0;
    case json::kind::uint64:
      return value->get_uint64() == 0;
    case json::kind::double_:
      return value->get_double() == 0;
    case json::kind::string:
      return value->get_string().empty();
    case json::kind::array:
      return value->get_array().empty();
    case json::kind::object:
      return value->get_object().empty();
  }
  return false;
}

std::string join(std::string_view path, std::string_view key) {
  std::string joined(path);
  if (!joined.empty()) joined += '.';
  return joined += key;
}

/// The values by which an entry of a merged list is found.
std::string identity(const json::value& entry, std::span<const std::string_view> keys) {
  std::string text;
  for (std::string_view key : keys)
    if (const json::value* value = kube::find(entry, {key}); !is_omitted(value)) text += json::serialize(*value) + ',';
  return text;
}

bool has(const json::value* live, const json::value& wanted, const std::string& path, const Schema& schema);

bool has_all(const json::object& live, const json::object& wanted, const std::string& path, const Schema& schema) {
  return std::ranges::all_of(wanted, [&](const auto& entry) {
    return has(live.if_contains(entry.key()), entry.value(), join(path, entry.key()), schema);
  });
}

bool has_entries(const json::array& live, const json::array& wanted, const Schema::MergedList& list,
                 const Schema& schema) {
  std::unordered_map<std::string, const json::value*> known;
  for (const json::value& entry : live) known.emplace(identity(entry, list.keys), &entry);
  return std::ranges::all_of(wanted, [&](const json::value& entry) {
    const auto found = known.find(identity(entry, list.keys));
    return found != known.end() && has(found->second, entry, std::string(list.path), schema);
  });
}

bool has(const json::value* live, const json::value& wanted, const std::string& path, const Schema& schema) {
  if (std::ranges::find(schema.atomic, path) != schema.atomic.end()) return is_equal(live, &wanted);
  if (const json::object* map = wanted.if_object()) {
    static const json::object none;
    const json::object* of_live = live ? live->if_object() : nullptr;
    return (of_live || is_omitted(live)) && has_all(of_live ? *of_live : none, *map, path, schema);
  }
  const auto merged = std::ranges::find(schema.merged_lists, path, &Schema::MergedList::path);
  const json::array* list = wanted.if_array();
  const json::array* of_live = live ? live->if_array() : nullptr;
  if (!list || list->empty() || !of_live) return is_equal(live, &wanted);
  if (merged != schema.merged_lists.end()) return has_entries(*of_live, *list, *merged, schema);
  return std::ranges::equal(*of_live, *list, [&](const json::value& each, const json::value& wish) {
    return has(&each, wish, path, schema);
  });
}

}  // namespace

bool is_equal(const json::value* left, const json::value* right) {
  if (is_omitted(left) || is_omitted(right)) return is_omitted(left) && is_omitted(right);
  if (left->is_object() && right->is_object()) {
    const json::object &a = left->get_object(), &b = right->get_object();
    const auto agrees = [](const json::object& with) {
      return [&with](const auto& entry) { return is_equal(&entry.value(), with.if_contains(entry.key())); };
    };
    return std::ranges::all_of(a, agrees(b)) && std::ranges::all_of(b, [&a](const auto& entry) {
             return a.contains(entry.key()) || is_omitted(&entry.value());
           });
  }
  if (left->is_array() && right->is_array())
    return std::ranges::equal(left->get_array(), right->get_array(),
                              [](const json::value& a, const json::value& b) { return is_equal(&a, &b); });
  return *left == *right;
}

bool contains(const json::object& live, const json::object& wanted, const Schema& schema) {
  return has_all(live, wanted, {}, schema);
}

Comparison compare_contained(const kube::Object& live, const kube::Object& wanted) {
  json::object rest = wanted.tree();
  for (std::string_view key : {"apiVersion", "kind", "metadata"}) rest.erase(key);
  return contains(live.tree(), rest) ? Comparison::same : Comparison::differs;
}

}  // namespace liqo::core::reflection
