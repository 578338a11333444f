// When a peer's clock is wrong enough to be reported, and the sentence about it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace liqo::core {

/// How far a peer's clock is reported to be ahead (negative: behind; 0: nothing is reported), from what was reported
/// before and what is measured now. A skew is reported once it is more than a minute, until it is less than 50 s. The
/// number changes only when the skew has changed by more than a minute, so that a second more or less writes nothing.
std::chrono::seconds settle_clock(std::chrono::seconds reported, std::chrono::seconds measured);

/// "its clock is 60 min ahead of ours, …", a clause for a sentence about an API server; `other` is the clock that it is
/// compared with. `ahead` is not 0.
std::string describe_clock(std::chrono::seconds ahead, std::string_view other = "ours");

/// What describe_clock() has put at the end of a message; "" if there is none.
std::string_view clock_note(std::string_view message);

}  // namespace liqo::core
