// How much memory this process may have.
// Tested by test/unit/liqod/memory_limit_test.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace liqod {

/// The limit of the control group of this process (cgroup v2): the least of those of its group and of the groups above.
/// Nothing: there is none. `own_group` is what /proc/self/cgroup says, `root` where the groups are.
std::optional<std::size_t> memory_limit(const std::string& own_group, const std::string& root);

/// Has what is read of API servers take a quarter of that, if there is a limit.
void bound_answers();

}  // namespace liqod
