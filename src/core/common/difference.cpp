#include "core/common/difference.hpp"

#include "kube/base/quantity.hpp"

namespace liqo::core {
namespace json = kube::json;

bool is_same_amount(const json::value& have, const json::value& want) {
  if (have == want) return true;
  const auto left = kube::Quantity::from_json(have);
  const auto right = kube::Quantity::from_json(want);
  return left && right && *left == *right;
}

namespace {

json::object difference(const json::object& have, const json::object& want, bool amounts) {
  json::object patch;
  for (const auto& [key, value] : want) {
    if (value.is_null()) continue;
    const json::value* present = have.if_contains(key);
    if (!present) {
      patch[key] = value;
      continue;
    }
    if (amounts ? is_same_amount(*present, value) : *present == value) continue;
    if (!value.is_object() || !present->is_object()) {
      patch[key] = value;
      continue;
    }
    if (auto inner = difference(present->get_object(), value.get_object(), key == "resources"); !inner.empty())
      patch[key] = std::move(inner);
  }
  for (const auto& [key, value] : have) {
    if (value.is_null()) continue;
    const json::value* wanted = want.if_contains(key);
    if (!wanted || wanted->is_null()) patch[key] = nullptr;
  }
  return patch;
}

}  // namespace

json::object difference(const json::object& have, const json::object& want) { return difference(have, want, false); }

json::object changed_entries(const json::object& have, const json::object& want) {
  json::object changed;
  for (const auto& [key, value] : want)
    if (const json::value* present = have.if_contains(key); !present || *present != value) changed[key] = value;
  return changed;
}

}  // namespace liqo::core
