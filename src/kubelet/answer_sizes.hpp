// The memory that answers about all pods of a node take.
#pragma once

#include <cstddef>

namespace liqo::kubelet {

/// The amount of text that is made before it is sent; at most one more pod is in memory.
inline constexpr std::size_t piece_size = 32 * 1024;
/// A key, and what the heap takes for its names.
inline constexpr std::size_t key_size = 160;

}  // namespace liqo::kubelet
