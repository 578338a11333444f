// How wide text is on a terminal, as far as tables and boxes need it: one column per code point of UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace liqoctl::text {

/// Code points of UTF-8 text; broken bytes count as one each.
std::size_t width(std::string_view text);
/// The text with spaces up to `columns`.
std::string padded(std::string_view text, std::size_t columns);
/// The text with control characters replaced, so that what another cluster wrote cannot move the cursor.
std::string printable(std::string_view text);
std::string lower_case(std::string_view text);

}  // namespace liqoctl::text
