#include "kube/wire/pending_text.hpp"

#include <algorithm>

namespace kube::wire {
namespace {

/// There may be thousands of watches, most of them silent: so much each may keep while nothing waits.
constexpr std::size_t max_idle = 1024;

}  // namespace

Result<void> PendingText::append(std::string_view bytes) {
  text_.erase(0, dropped_);
  dropped_ = 0;
  const std::size_t needed = text_.size() + bytes.size();
  if (needed > text_.capacity()) {
    const std::size_t room = std::max(needed, text_.capacity() * 2);
    KUBE_TRYV(hold_.grow(room));
    text_.reserve(room);
  }
  text_.append(bytes);
  return {};
}

void PendingText::drop(std::size_t bytes) {
  dropped_ += bytes;
  if (dropped_ < text_.size() || text_.capacity() <= max_idle) return;
  std::string().swap(text_);
  dropped_ = 0;
  hold_.shrink(0);
}

}  // namespace kube::wire
