// When a peer's clock is worth a word, and the words.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace liqo::core {

/// How far a peer's clock is said to be ahead (negative: behind), from what was said before (0 = nothing) and what is
/// measured now: more than a minute, and told anew only where it is another minute by now, so that nothing is written
/// for a second more or less.
std::chrono::seconds settle_clock(std::chrono::seconds told, std::chrono::seconds measured);

/// "its clock is 60 min ahead of ours, …", to go on in a sentence about an API server; `other` is the clock that it is
/// compared with. `ahead` is not 0.
std::string describe_clock(std::chrono::seconds ahead, std::string_view other = "ours");

/// What describe_clock() has put at the end of a message; "" where there is none.
std::string_view clock_note(std::string_view message);

}  // namespace liqo::core
