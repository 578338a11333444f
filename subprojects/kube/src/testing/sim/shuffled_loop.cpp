#include "kube/testing/sim/shuffled_loop.hpp"

namespace kube::testing {

ShuffledLoop::~ShuffledLoop() {
  closed_ = true;
  const auto dropped = std::exchange(ready_, {});
}

bool ShuffledLoop::run_one() {
  // First the ends of all waits, so that what they wake can be chosen, too.
  timers_.restart();
  timers_.poll();
  if (ready_.empty()) return false;
  if (shuffles_) {
    const auto chosen = random_.between(0, static_cast<std::int64_t>(ready_.size()) - 1);
    std::swap(ready_.front(), ready_[static_cast<std::size_t>(chosen)]);
  }
  Handler handler = std::move(ready_.front());
  ready_.pop_front();
  struct Running {
    explicit Running(bool& flag) : is_set(flag) { is_set = true; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { is_set = false; }
    bool& is_set;
  } const running(running_);
  handler();
  return true;
}

}  // namespace kube::testing
