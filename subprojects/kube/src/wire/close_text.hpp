// The beginning of a JSON text, as a text of its own.
#pragma once

#include <string>
#include <string_view>

namespace kube::wire {

/// What stands before the last comma within so many levels, closed: all of those levels that has come whole. "" where
/// there is no such comma. The text is not checked, so a fault in it stays one.
std::string close_text(std::string_view text, std::size_t levels);

}  // namespace kube::wire
