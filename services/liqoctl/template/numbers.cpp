#include "template/numbers.hpp"

#include <cmath>

namespace liqoctl::chart {
namespace {

namespace json = kube::json;

/// Above it, floating-point numbers cannot represent every whole number.
constexpr double exact = 9'007'199'254'740'992;

json::value each(json::value tree, const auto& change) {
  if (auto* object = tree.if_object()) {
    for (auto& [key, value] : *object) value = each(std::move(value), change);
  } else if (auto* list = tree.if_array()) {
    for (json::value& value : *list) value = each(std::move(value), change);
  } else {
    change(tree);
  }
  return tree;
}

}  // namespace

json::value as_values(json::value tree) {
  return each(std::move(tree), [](json::value& value) {
    if (value.is_number()) value = value.to_number<double>();
  });
}

json::value as_written(json::value tree) {
  return each(std::move(tree), [](json::value& value) {
    if (const auto* number = value.if_double(); number && std::abs(*number) <= exact && std::trunc(*number) == *number)
      value = std::int64_t(*number);
  });
}

}  // namespace liqoctl::chart
