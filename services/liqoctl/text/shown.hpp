// Text of other authors, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/printable.hpp"

namespace liqoctl::text {

/// The words, cut to at most `max` bytes and without characters that a terminal acts on.
inline std::string shown(std::string_view words, std::size_t max = 512) {
  return kube::printable(kube::cut_text(words, max));
}

}  // namespace liqoctl::text
