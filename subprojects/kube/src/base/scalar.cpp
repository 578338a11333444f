#include "kube/base/scalar.hpp"

#include <algorithm>
#include <iterator>

namespace kube {

std::optional<bool> read_bool(std::string_view text) {
  constexpr std::string_view yes[] = {"1", "t", "T", "true", "True", "TRUE"};
  constexpr std::string_view no[] = {"0", "f", "F", "false", "False", "FALSE"};
  if (std::ranges::find(yes, text) != std::end(yes)) return true;
  if (std::ranges::find(no, text) != std::end(no)) return false;
  return std::nullopt;
}

}  // namespace kube
