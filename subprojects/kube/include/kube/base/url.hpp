// Parts of URLs: percent-encoding, and the path of a request.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// Percent-encodes everything but the unreserved characters of RFC 3986: for one path segment or one query value.
std::string percent_encode(std::string_view text);
/// The text that was encoded; nothing where two hexadecimal digits do not follow a percent sign. In a query `+` is a
/// space, too.
std::optional<std::string> percent_decode(std::string_view encoded, bool plus_is_space = false);

/// The path of a request's target, which is what is before its query.
constexpr std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

}  // namespace kube
