// A clock that jumps to the next sleeper whenever nothing else is left to do: hours pass in no time.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <map>

#include "kube/async/clock.hpp"
#include "kube/async/event.hpp"

namespace kube::test {

namespace asio = boost::asio;

class SteppedClock final : public async::Clock {
 public:
  TimePoint now() const override { return now_; }
  WallTime wall() const override {
    return WallTime(std::chrono::seconds(1767225600)) +
           std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch());
  }
  asio::awaitable<bool> wait_until(TimePoint at) override {
    if (at <= now_) co_return true;
    async::Event due(co_await asio::this_coro::executor);
    const auto self = sleepers_.emplace(at, &due);
    struct Scope {
      SteppedClock& clock;
      std::multimap<TimePoint, async::Event*>::iterator self;
      ~Scope() { clock.sleepers_.erase(self); }
    } scope{*this, self};
    try {
      co_await due.wait();
    } catch (const boost::system::system_error&) {
      co_return false;
    }
    co_return true;
  }
  /// Jumps to the next sleeper; false where nobody sleeps.
  bool step() {
    for (const auto& [at, due] : sleepers_) {
      if (due->is_set()) continue;
      now_ = at;
      due->set();
      return true;
    }
    return false;
  }

  /// Runs a coroutine to its end; what it throws is thrown here. Something that waits for ever is an error.
  void run(asio::io_context& io, asio::awaitable<void> coroutine) {
    // Keep-alives can go on for ever.
    const TimePoint give_up = now_ + std::chrono::hours(24);
    bool done = false;
    std::exception_ptr failure;
    asio::co_spawn(io, std::move(coroutine), [&done, &failure](std::exception_ptr thrown) {
      done = true;
      failure = std::move(thrown);
    });
    while (!done) {
      io.restart();
      while (io.poll() > 0) {
      }
      if (!done && (now_ > give_up || !step()))
        throw std::runtime_error("the coroutine waits for something that never comes");
    }
    io.restart();
    while (io.poll() > 0) {
    }
    if (failure) std::rethrow_exception(failure);
  }

 private:
  TimePoint now_{std::chrono::hours(1)};
  std::multimap<TimePoint, async::Event*> sleepers_;
};

}  // namespace kube::test
