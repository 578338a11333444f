// Runs coroutines on virtual time: handlers while any is ready, then the clock to the next sleeper, and so on.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string_view>

#include "kube/base/random.hpp"
#include "kube/testing/sim/shuffled_loop.hpp"
#include "kube/testing/sim/virtual_clock.hpp"

namespace kube::testing {

/// One loop, one virtual clock, one source of randomness: the same seed gives the same run. Nothing in it depends on
/// the time or speed of the machine. What is ready at one instant runs in an order that follows from the seed. Objects
/// that live on the loop must be destroyed before it.
class Simulator {
 public:
  enum class End {
    reached,      ///< the predicate holds
    out_of_time,  ///< virtual time ran out
    stuck,        ///< nothing is ready and nobody sleeps: it would stay so for ever
    livelock,     ///< handlers kept each other busy without time moving on
  };

  explicit Simulator(std::uint64_t seed, WallTime start = VirtualClock::default_start)
      : clock_(start), random_(seed), loop_(seed) {}

  asio::any_io_executor executor() { return loop_.executor(); }
  VirtualClock& clock() { return clock_; }
  Random& random() { return random_; }

  /// Runs until `reached` holds, asked whenever nothing is ready, for at most `limit` of virtual time.
  End run_until(const std::function<bool()>& reached, Duration limit);
  /// Lets virtual time pass.
  End run_for(Duration duration);
  /// Runs one coroutine to its end; what it throws is thrown. Throws std::runtime_error if it does not end in time.
  void run(asio::awaitable<void> coroutine, Duration limit = std::chrono::hours(1));
  /// Runs what is ready without letting time pass; false on a livelock.
  bool settle();

 private:
  VirtualClock clock_;
  Random random_;
  ShuffledLoop loop_;
};

std::string_view to_string(Simulator::End end);

}  // namespace kube::testing
