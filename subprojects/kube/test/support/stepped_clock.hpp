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
  Alarm call_at(const asio::any_io_executor&, TimePoint at, std::function<void()> action) override {
    const Alarm alarm{at, ++sequence_};
    alarms_.emplace(alarm, std::move(action));
    return alarm;
  }
  void cancel(const Alarm& alarm) override { alarms_.erase(alarm); }
  /// Jumps to the next alarm; false where there is none.
  bool step() {
    if (alarms_.empty()) return false;
    now_ = std::max(now_, alarms_.begin()->first.first);
    alarms_.extract(alarms_.begin()).mapped()();
    return true;
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
  std::uint64_t sequence_ = 0;
  std::map<Alarm, std::function<void()>> alarms_;
};

}  // namespace kube::test
