// The part of a sentence that stays the same while its details change.
// Tested by test/unit/core/admission/refusal_ring_test.cpp.
#pragma once

#include <string_view>

namespace liqo::core {

/// The sentence up to its first ": ", behind which figures and details are; all of it if there is none.
inline std::string_view gist(std::string_view sentence) { return sentence.substr(0, sentence.find(": ")); }

}  // namespace liqo::core
