// Parsing for trees that are read and dropped.
#pragma once

#include "kube/base/json.hpp"

namespace kube {

/// As `parse_json`, but the whole tree lies in one piece of memory, which is freed with its last part: about half the
/// time. What is changed in the tree or removed from it frees nothing before that, so it is not for trees that live
/// long. Errors: Errc::parse, with the offset.
Result<json::value> parse_json_arena(std::string_view text, std::size_t max_depth = 64);

}  // namespace kube
