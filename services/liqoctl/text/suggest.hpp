// "Did you mean": the nearest known word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace liqoctl::text {

/// The known word that takes the fewest edits (at most a third of its length, at least one); "" where none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace liqoctl::text
