// Parsing for trees that are read and dropped, and what they take.
#pragma once

#include <memory>

#include "kube/base/json.hpp"
#include "kube/base/memory_account.hpp"

namespace kube {

/// An upper bound of the number of values in a JSON text; in a tree each takes some fifty bytes besides its text. If a
/// cheap count gives more than `enough`, a second one leaves out what is in strings.
std::size_t count_values(std::string_view text, std::size_t enough);

/// Parses one JSON document of at most `max_depth` levels, in about half the time of parse_json(): the whole tree lies
/// in one piece of memory, which is freed with its last part. Changes and removals free nothing until then, so this is
/// not for trees that live long. That memory is drawn on the account, if there is one. Errors: Errc::parse, with the
/// offset; Errc::too_large if the account has too little left.
Result<json::value> parse_json_arena(std::string_view text, std::size_t max_depth = max_object_depth,
                                     const std::shared_ptr<MemoryAccount>& account = nullptr);

}  // namespace kube
