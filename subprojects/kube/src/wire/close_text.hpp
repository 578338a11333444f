// The beginning of a JSON text, as a text of its own.
#pragma once

#include <string>
#include <string_view>

namespace kube::wire {

/// The text before the last comma within `levels` levels, with its brackets closed: all of those levels that has come
/// whole. "" if there is no such comma. The text is not checked, so a fault in it stays one.
std::string close_text(std::string_view text, std::size_t levels);

}  // namespace kube::wire
