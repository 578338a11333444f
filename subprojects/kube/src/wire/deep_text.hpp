// Objects that are nested too deep to be read, without what lies there.
#pragma once

#include <string_view>

#include "kube/base/json_arena.hpp"

namespace kube::wire {

struct DeepText {
  json::value tree;
  bool too_deep = false;  ///< null is in place of each object and array that is nested too deep
};

/// Parses a document into an arena, without what is nested deeper than `levels` levels. What is left out is not
/// checked. Errors: those of parse_json_arena().
Result<DeepText> read_deep_text(std::string_view text, std::size_t levels,
                                const std::shared_ptr<MemoryAccount>& account);

}  // namespace kube::wire
