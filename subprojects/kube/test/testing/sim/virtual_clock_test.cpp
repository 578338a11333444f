#include <doctest/doctest.h>

#include <string>

#include "kube/async/event.hpp"
#include "kube/async/timeout.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace {

using namespace std::chrono_literals;
using namespace kube::async;
using kube::testing::Simulator;
using kube::testing::VirtualClock;

asio::awaitable<void> note_after(VirtualClock& clock, kube::Duration delay, char name, std::string& log) {
  co_await clock.sleep(delay);
  log += name;
}

asio::awaitable<void> wait_on(Event& event) { co_await event.wait(); }

asio::awaitable<void> post_forever() {
  while (true) {
    Event event(co_await asio::this_coro::executor);
    TaskGroup group(co_await asio::this_coro::executor);
    group.spawn(wait_on(event));
    event.set();
    co_await group.join();
  }
}

}  // namespace

TEST_CASE("sleepers wake in the order of their times, and at equal times in the order in which they slept") {
  Simulator simulator(1);
  std::string log;
  const auto start = simulator.clock().now();
  simulator.run([](VirtualClock& clock, std::string& text) -> asio::awaitable<void> {
    TaskGroup group(co_await asio::this_coro::executor);
    group.spawn(note_after(clock, 30s, 'c', text));
    group.spawn(note_after(clock, 10s, 'a', text));
    group.spawn(note_after(clock, 30s, 'd', text));
    group.spawn(note_after(clock, 20s, 'b', text));
    co_await group.join();
  }(simulator.clock(), log));
  CHECK(log == "abcd");
  CHECK(simulator.clock().now() - start == 30s);
  CHECK(simulator.clock().wall() - VirtualClock::default_start == 30s);
}

TEST_CASE("a cancelled sleeper throws at once and leaves no alarm behind") {
  Simulator simulator(1);
  std::string log;
  simulator.run([](VirtualClock& clock, std::string& text) -> asio::awaitable<void> {
    TaskGroup group(co_await asio::this_coro::executor);
    group.spawn(note_after(clock, 30s, 'x', text));
    co_await clock.sleep(1s);
    const auto before = clock.now();
    co_await group.stop();
    CHECK(clock.now() == before);
  }(simulator.clock(), log));
  CHECK(log.empty());
  CHECK(simulator.clock().pending() == 0);
}

TEST_CASE("deadlines work on virtual time: a late operation is cancelled exactly then") {
  Simulator simulator(1);
  simulator.run([](VirtualClock& clock) -> asio::awaitable<void> {
    const auto start = clock.now();
    std::string ignored;
    const bool done = co_await with_timeout(clock, note_after(clock, 1h, 'x', ignored), 5s);
    CHECK_FALSE(done);
    CHECK(clock.now() - start == 5s);
  }(simulator.clock()));
}

TEST_CASE("a wait that nobody can end is told apart from one that takes too long") {
  Simulator simulator(1);
  {
    Event never(simulator.executor());
    TaskGroup group(simulator.executor());
    group.spawn(wait_on(never));
    CHECK(simulator.run_until([] { return false; }, 1h) == Simulator::End::stuck);
    std::string log;
    group.spawn(note_after(simulator.clock(), 2h, 'x', log));
    CHECK(simulator.run_until([] { return false; }, 1h) == Simulator::End::out_of_time);
    simulator.run(group.stop());
  }
}

TEST_CASE("handlers that keep each other busy are reported as a livelock") {
  Simulator simulator(1);
  TaskGroup group(simulator.executor());
  group.spawn(post_forever());
  CHECK(simulator.run_until([] { return false; }, 1s) == Simulator::End::livelock);
  group.cancel();
  CHECK(simulator.settle());
}
