// "Did you mean": the nearest known word.
// Tested by test/unit/liqoctl/text/text_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace liqo::core {

/// The known word that takes the fewest edits (at most a third of its length, at least one; two neighbours that have
/// changed places are one); "" if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace liqo::core
