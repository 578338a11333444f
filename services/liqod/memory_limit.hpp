// The limit of this process's memory.
// Tested by test/unit/liqod/memory_limit_test.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace liqod {

/// The memory limit of the control group of this process (cgroup v2): the lowest of those of its group and of the
/// groups above. No value: there is no limit. `own_group` is the content of /proc/self/cgroup, `root` the directory of
/// the groups.
std::optional<std::size_t> memory_limit(const std::string& own_group, const std::string& root);

/// Bounds the memory of answers of API servers to a quarter of that limit, if there is one.
void bound_answers();

}  // namespace liqod
