#include "kube/async/slots.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "kube/async/clock.hpp"
#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "support/run.hpp"

namespace {

using namespace std::chrono_literals;
using namespace kube::async;
using kube::test::run;

RealClock real;

/// Takes a slot, notes who has it, and keeps it until the event.
asio::awaitable<void> hold(Slots& slots, int who, std::vector<int>& served, Event& until) {
  const auto slot = co_await slots.take();
  served.push_back(who);
  co_await until.wait();
}

}  // namespace

TEST_CASE("so many have a slot at a time, and who asked first is served first") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Slots slots(executor, 2);
    std::vector<int> served;
    Event first(executor), others(executor);
    TaskGroup group(executor);
    group.spawn(hold(slots, 1, served, first));
    group.spawn(hold(slots, 2, served, others));
    group.spawn(hold(slots, 3, served, others));
    group.spawn(hold(slots, 4, served, others));
    while (slots.waiting() < 2) co_await real.sleep(1ms);
    CHECK(served == std::vector{1, 2});
    first.set();
    while (served.size() < 3) co_await real.sleep(1ms);
    CHECK(served == std::vector{1, 2, 3});
    CHECK(slots.waiting() == 1);
    others.set();
    co_await group.join();
    CHECK(served == std::vector{1, 2, 3, 4});
  }());
}

TEST_CASE("who is cancelled while it waits takes no slot, also where it was just served") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Slots slots(executor, 1);
    std::vector<int> served;
    Event until(executor);
    {
      TaskGroup waiting(executor), served_late(executor);
      {
        const auto slot = co_await slots.take();
        waiting.spawn(hold(slots, 1, served, until));
        served_late.spawn(hold(slots, 2, served, until));
        while (slots.waiting() < 2) co_await real.sleep(1ms);
        co_await waiting.stop();
        CHECK(slots.waiting() == 1);
      }
      // The slot has just been given to the second one, which has not run yet.
      co_await served_late.stop();
    }
    const auto slot = co_await slots.take();
    CHECK(slots.waiting() == 0);
    CHECK(served.size() <= 1);
  }());
}

TEST_CASE("a slot may outlive the slots") {
  run([]() -> asio::awaitable<void> {
    auto slots = std::make_unique<Slots>(co_await asio::this_coro::executor, 1);
    const auto slot = co_await slots->take();
    slots.reset();
  }());
}
