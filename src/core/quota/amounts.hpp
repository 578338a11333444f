// Amounts of resources as metrics show them.
// Tested by test/unit/quota/quota_display_test.cpp.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/common/resources.hpp"
#include "kube/base/quantity.hpp"

namespace liqo::core {

inline constexpr std::array<std::string_view, 4> common_resources = {"cpu", "memory", "pods", "ephemeral-storage"};

/// The amount in cores for cpu, else in the unit of the resource itself (bytes, pieces).
inline double amount_of(const kube::Quantity& quantity, std::string_view resource) {
  return resource == "cpu" ? double(quantity.milli_value()) / 1000 : double(quantity.value());
}

/// The amount of the resource in a list as it is written; nothing if it is not there or cannot be read.
inline std::optional<double> amount_of(const kube::json::object& list, std::string_view resource) {
  const kube::json::value* written = list.if_contains(resource);
  if (!written) return std::nullopt;
  const auto read = read_resources({{resource, *written}});
  if (!read) return std::nullopt;
  return amount_of(amount(*read, resource), resource);
}

}  // namespace liqo::core
