// Numbers in the query of a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kube/base/scalar.hpp"
#include "kube/base/text.hpp"
#include "kube/base/url.hpp"

namespace liqo::bench {

/// The whole number that this parameter of a target has; no value if there is none.
inline std::optional<std::uint64_t> number_in(std::string_view target, std::string_view name) {
  target.remove_prefix(kube::path_of(target).size());
  if (target.empty()) return std::nullopt;
  for (std::string_view parameter : kube::split(target.substr(1), '&')) {
    if (!parameter.starts_with(name)) continue;
    parameter.remove_prefix(name.size());
    if (parameter.starts_with('=')) return kube::read_number<std::uint64_t>(parameter.substr(1));
  }
  return std::nullopt;
}

}  // namespace liqo::bench
