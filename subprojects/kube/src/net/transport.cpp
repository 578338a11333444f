#include "kube/net/transport.hpp"

namespace kube::net {

std::string_view ResponseHead::header(std::string_view name) const { return find_header(headers, name); }

}  // namespace kube::net
