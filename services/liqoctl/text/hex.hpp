// Bytes as hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace liqoctl::text {

/// Two digits for each byte.
std::string hex(std::string_view bytes);

}  // namespace liqoctl::text
