#include "core/common/bounded.hpp"

#include "kube/base/printable.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// An estimate of the bytes of a number, or of the frame of an entry.
constexpr std::size_t small = 16;

bool take(Bounds& bounds, std::size_t bytes) {
  if (bounds.left < bytes) return false;
  bounds.left -= bytes;
  return true;
}

json::value copy(const json::value& value, Bounds& bounds, int depth) {
  if (value.is_string()) {
    const std::string_view text = kube::cut_text(value.get_string(), std::min(bounds.text, bounds.left));
    bounds.left -= text.size();
    return json::value(text);
  }
  if (!value.is_array() && !value.is_object()) return value;
  if (depth == 0) return nullptr;
  if (value.is_array()) {
    json::array list;
    for (const json::value& entry : value.get_array()) {
      if (list.size() == bounds.entries || !take(bounds, small)) break;
      list.push_back(copy(entry, bounds, depth - 1));
    }
    return list;
  }
  json::object object;
  for (const auto& [key, entry] : value.get_object()) {
    if (object.size() == bounds.entries || key.size() > bounds.text || !take(bounds, small + key.size())) break;
    object[key] = copy(entry, bounds, depth - 1);
  }
  return object;
}

}  // namespace

json::value bounded(const json::value& value, Bounds& bounds) { return copy(value, bounds, bounds.depth); }

}  // namespace liqo::core
