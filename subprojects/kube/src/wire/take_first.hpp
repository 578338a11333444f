// How the codecs of this room hand out what waits in their queues.
#pragma once

#include <deque>
#include <optional>
#include <utility>

namespace kube::wire {

/// The first element, taken out; nullopt if there is none.
template <class T>
std::optional<T> take_first(std::deque<T>& queue) {
  if (queue.empty()) return std::nullopt;
  std::optional<T> first(std::move(queue.front()));
  queue.pop_front();
  return first;
}

}  // namespace kube::wire
