// The first names of a list, and how many more there are.
#pragma once

#include <string>
#include <vector>

namespace liqoctl::text {

/// "a, b, c and 2 more": at most `most` of the names.
std::string some_of(const std::vector<std::string>& names, std::size_t most);

}  // namespace liqoctl::text
