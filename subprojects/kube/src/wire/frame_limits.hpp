// How much the codecs of this room send at a time, and how many answers they keep for a peer.
#pragma once

#include <cstddef>

namespace kube::wire {

/// Data of one frame or message: what Go's programs move at a time.
inline constexpr std::size_t max_sent_data = 32 * std::size_t{1024};
/// More answers than this are not queued: a peer that floods us with pings and does not read gets fewer.
inline constexpr std::size_t max_urgent = 64;

}  // namespace kube::wire
