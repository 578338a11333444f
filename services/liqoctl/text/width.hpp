// The width of text on a terminal, as far as tables and boxes need it: one column per code point of UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace liqoctl::text {

/// Code points of UTF-8 text; broken bytes count as one each.
std::size_t width(std::string_view text);
/// The text, padded with spaces to `columns`.
std::string padded(std::string_view text, std::size_t columns);
/// As much of the text as fits into `columns`. If something is cut off, the last column is an ellipsis.
std::string shortened(std::string_view text, std::size_t columns);
enum class Quotes { json, yaml };
/// The text as a string of JSON, or a double-quoted one of YAML. Characters that a terminal would act on or hide are
/// escaped. Readers get the same text back.
std::string in_double_quotes(std::string_view text, Quotes quotes);

}  // namespace liqoctl::text
