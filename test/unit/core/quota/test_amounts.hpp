// Amounts of resources as tests of quotas write them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/common/resources.hpp"

namespace liqo::core::testing {

inline Resources resources(std::initializer_list<std::pair<std::string_view, std::string_view>> list) {
  Resources out;
  for (const auto& [name, text] : list) out[std::string(name)] = *kube::Quantity::parse(text);
  return out;
}

}  // namespace liqo::core::testing
