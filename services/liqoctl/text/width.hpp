// How wide text is on a terminal, as far as tables and boxes need it: one column per code point of UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace liqoctl::text {

/// Code points of UTF-8 text; broken bytes count as one each.
std::size_t width(std::string_view text);
/// The text with spaces up to `columns`.
std::string padded(std::string_view text, std::size_t columns);
/// As much of the text as goes into `columns`, with an ellipsis in the last one where something is missing.
std::string shortened(std::string_view text, std::size_t columns);
enum class Quotes { json, yaml };
/// The text as a string of JSON, or a double-quoted one of YAML; what a terminal would act on or hide is escaped.
/// Readers get the same text back.
std::string in_double_quotes(std::string_view text, Quotes quotes);

}  // namespace liqoctl::text
