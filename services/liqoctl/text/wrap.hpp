// Sentences in columns: broken between words, never cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace liqoctl::text {

/// The lines of the text, each of at most `columns` columns. A longer word has a line of its own. Returns at least one
/// line, also for an empty text.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace liqoctl::text
