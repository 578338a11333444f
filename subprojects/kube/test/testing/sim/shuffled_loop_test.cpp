// The order in which a simulation runs what is ready.
#include "kube/testing/sim/shuffled_loop.hpp"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace {

using namespace kube::testing;
using namespace std::chrono_literals;

asio::awaitable<void> note_when_set(kube::async::Event& event, char name, std::string& log) {
  co_await event.wait();
  log += name;
}

/// The order in which four coroutines go on that wait for the same.
std::string woken_order(std::uint64_t seed) {
  Simulator simulator(seed);
  std::string log;
  kube::async::Event event(simulator.executor());
  kube::async::TaskGroup group(simulator.executor());
  for (const char name : {'a', 'b', 'c', 'd'}) group.spawn(note_when_set(event, name, log));
  REQUIRE(simulator.settle());
  event.set();
  simulator.run(group.join());
  return log;
}

asio::awaitable<void> hold_for_ever(kube::async::Clock& clock, std::shared_ptr<int> held) {
  co_await clock.sleep(1h);
  ++*held;
}

}  // namespace

TEST_CASE("those that are woken at once go on in any order, which the seed decides") {
  std::set<std::string> orders;
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string order = woken_order(seed);
    CHECK(order.size() == 4);
    orders.insert(order);
    kept += order == "abcd";
    CHECK(woken_order(seed) == order);
  }
  CHECK(orders.size() == 24);
  // As the real loop does.
  CHECK(kept > 200 / 8);
  CHECK(kept < 200 / 2);
}

TEST_CASE("what is dispatched from within a handler runs at once, what is posted never does") {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    ShuffledLoop loop(seed);
    const asio::any_io_executor executor = loop.executor();
    std::string log;
    asio::dispatch(executor, [&] { log += "outside "; });
    CHECK(log.empty());
    REQUIRE(loop.run_one());
    asio::post(executor, [&] {
      asio::post(executor, [&] { log += "posted "; });
      asio::dispatch(executor, [&] { log += "dispatched "; });
      log += "end ";
    });
    while (loop.run_one()) {
    }
    CHECK(log == "outside dispatched end posted ");
  }
}

TEST_CASE("a handler that throws leaves the loop as it was") {
  ShuffledLoop loop(1);
  const asio::any_io_executor executor = loop.executor();
  asio::post(executor, [] { throw std::runtime_error("on purpose"); });
  CHECK_THROWS_AS(loop.run_one(), std::runtime_error);
  bool ran = false;
  asio::dispatch(executor, [&] { ran = true; });
  CHECK_FALSE(ran);
  CHECK(loop.run_one());
  CHECK(ran);
  CHECK_FALSE(loop.run_one());
}

TEST_CASE("a loop that ends takes with it what waits and what is ready") {
  const auto held = std::make_shared<int>(0);
  {
    Simulator simulator(1);
    asio::co_spawn(simulator.executor(), hold_for_ever(simulator.clock(), held), [](const std::exception_ptr&) {});
    REQUIRE(simulator.settle());
    asio::post(simulator.executor(), [held] { ++*held; });
    CHECK(held.use_count() == 3);
  }
  CHECK(*held == 0);
  CHECK(held.use_count() == 1);
}
