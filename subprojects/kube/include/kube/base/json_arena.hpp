// Parsing for trees that are read and dropped, and what they take.
#pragma once

#include "kube/base/json.hpp"

namespace kube {

/// A JSON text has at most so many values, of which each takes some fifty bytes in a tree besides its text. Cheap where
/// the answer is at most `enough`; beyond it, what stands in strings does not count.
std::size_t count_values(std::string_view text, std::size_t enough);

/// As `parse_json`, but the whole tree lies in one piece of memory, which is freed with its last part: about half the
/// time. What is changed in the tree or removed from it frees nothing before that, so it is not for trees that live
/// long. Errors: Errc::parse, with the offset.
Result<json::value> parse_json_arena(std::string_view text, std::size_t max_depth = max_object_depth);

}  // namespace kube
