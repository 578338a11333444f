#include "kube/net/transport.hpp"

namespace kube::net {

std::string_view ResponseHead::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

}  // namespace kube::net
