// Sentences in columns: broken between words, never cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace liqoctl::text {

/// The lines of the text, each of at most so many columns; a word that is longer has a line of its own. At least one
/// line, also of nothing.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace liqoctl::text
