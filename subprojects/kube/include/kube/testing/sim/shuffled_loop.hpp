// The loop of a simulation: handlers that are ready run in an order that a seed shuffles.
#pragma once

#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <type_traits>
#include <utility>

#include "kube/base/random.hpp"

namespace kube::testing {

namespace asio = boost::asio;

/// An executor promises only that a posted handler does not run within the caller, not in which order handlers run. A
/// loop that keeps the order hides code that relies on it. One seed in four keeps it, because the real loop does.
/// One thread.
class ShuffledLoop {
 public:
  class Executor;

  explicit ShuffledLoop(std::uint64_t seed)
      : random_(seed * 2654435761u + 41), shuffles_(!random_.chance(0.25)), timers_(1) {}
  /// Destroys the handlers that have not run, and those that their destructors post.
  ~ShuffledLoop();
  ShuffledLoop(const ShuffledLoop&) = delete;
  ShuffledLoop& operator=(const ShuffledLoop&) = delete;

  Executor executor();
  /// Runs one of the handlers that are ready; false if none is. What it throws is thrown.
  bool run_one();

 private:
  using Handler = std::move_only_function<void()>;
  void post(Handler handler) {
    if (!closed_) ready_.push_back(std::move(handler));
  }

  Random random_;
  bool shuffles_;
  bool running_ = false;  ///< a handler: what it dispatches runs at once
  bool closed_ = false;
  std::deque<Handler> ready_;
  asio::io_context timers_;  ///< whose waits end here, and go on by way of the executor; goes first
};

/// What is dispatched from within a handler runs at once, everything else when the loop chooses it.
class ShuffledLoop::Executor {
 public:
  explicit Executor(ShuffledLoop& loop, bool never_blocks = false) : loop_(&loop), never_blocks_(never_blocks) {}

  asio::execution_context& query(asio::execution::context_t) const noexcept { return loop_->timers_; }
  asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept {
    if (never_blocks_) return asio::execution::blocking_t::never;
    return asio::execution::blocking_t::possibly;
  }
  Executor require(asio::execution::blocking_t::never_t) const noexcept { return Executor(*loop_, true); }
  Executor require(asio::execution::blocking_t::possibly_t) const noexcept { return Executor(*loop_, false); }

  template <class Function>
  void execute(Function&& function) const {
    if (loop_->running_ && !never_blocks_) {
      std::decay_t<Function> called(std::forward<Function>(function));
      called();
    } else {
      loop_->post(Handler(std::forward<Function>(function)));
    }
  }

  bool operator==(const Executor&) const noexcept = default;

 private:
  ShuffledLoop* loop_;
  bool never_blocks_;
};

inline ShuffledLoop::Executor ShuffledLoop::executor() { return Executor(*this); }

}  // namespace kube::testing
