#include "kube/runtime/controller.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <stdexcept>

#include "kube/runtime/leadership.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "support/run.hpp"

using namespace kube;
using namespace std::chrono_literals;
using kube::test::run;

namespace {

struct World {
  async::RealClock clock;
  Random random{7};
  Metrics metrics;
  std::map<std::string, int> runs;
};

/// Runs a controller until `finished` is set, then stops it.
asio::awaitable<void> until(Controller& controller, async::Event& finished, async::Clock& clock) {
  async::TaskGroup group(co_await asio::this_coro::executor);
  group.spawn(controller.run());
  const bool in_time = co_await finished.wait_for(clock, 20s);
  CHECK(in_time);
  co_await group.stop();
}

}  // namespace

TEST_CASE("a failing key is retried until it succeeds, and an exception counts as a failure") {
  run([]() -> asio::awaitable<void> {
    World world;
    auto executor = co_await asio::this_coro::executor;
    async::Event finished(executor);
    Controller controller({executor, world.clock, world.random, world.metrics},
                          {.name = "test", .limits = {.backoff = {1ms, 5ms}}},
                          [&](WorkKey key) -> asio::awaitable<Outcome> {
                            const int turn = ++world.runs[key.object.name];
                            if (turn == 1) throw std::runtime_error("a bug");
                            if (turn == 2) co_return Outcome::retry(Failure(Errc::closed, "the link broke"));
                            finished.set();
                            co_return Outcome::done();
                          });
    controller.enqueue({"milan", {"ns", "pod"}});
    co_await until(controller, finished, world.clock);
    CHECK(world.runs["pod"] == 3);
    const std::string text = world.metrics.text();
    CHECK(text.find("controller_runtime_reconcile_panics_total{controller=\"test\"} 1") != std::string::npos);
    CHECK(text.find("workqueue_retries_total{controller=\"test\",name=\"test\"} 2") != std::string::npos);
  }());
}

TEST_CASE("a reconcile that hangs is cancelled by the guard and tried again, while others go on") {
  run([]() -> asio::awaitable<void> {
    World world;
    auto executor = co_await asio::this_coro::executor;
    async::Event finished(executor);
    Controller controller({executor, world.clock, world.random, world.metrics},
                          {.name = "test", .limits = {.backoff = {1ms, 5ms}}, .guard = 20ms},
                          [&](WorkKey key) -> asio::awaitable<Outcome> {
                            const int turn = ++world.runs[key.object.name];
                            if (key.object.name == "hangs" && turn < 3) co_await world.clock.sleep(1h);
                            if (world.runs["hangs"] == 3 && world.runs["runs"] > 0) finished.set();
                            co_return Outcome::done();
                          });
    controller.enqueue({"dead", {"ns", "hangs"}});
    controller.enqueue({"alive", {"ns", "runs"}});
    co_await until(controller, finished, world.clock);
    CHECK(world.runs["hangs"] == 3);
    CHECK(world.runs["runs"] == 1);
  }());
}

TEST_CASE("no key is worked on before the caches are complete, and none is forgotten") {
  run([]() -> asio::awaitable<void> {
    World world;
    auto executor = co_await asio::this_coro::executor;
    async::Event finished(executor);
    int looks = 0;
    Controller controller({executor, world.clock, world.random, world.metrics},
                          {.name = "test", .also_ready = [&] { return ++looks > 3; }},
                          [&](WorkKey key) -> asio::awaitable<Outcome> {
                            CHECK(looks == 4);
                            if (++world.runs[key.object.name]; world.runs.size() == 2) finished.set();
                            co_return Outcome::done();
                          });
    controller.enqueue({"milan", {"ns", "early"}});
    controller.enqueue({"milan", {"ns", "other"}});
    co_await until(controller, finished, world.clock);
  }());
}

TEST_CASE("a controller that fills its queue itself keeps nothing while it does not run") {
  run([]() -> asio::awaitable<void> {
    World world;
    auto executor = co_await asio::this_coro::executor;
    async::Event finished(executor);
    Controller* self = nullptr;
    Controller controller({executor, world.clock, world.random, world.metrics},
                          {.name = "test", .fill = [&self] { self->enqueue({"milan", {"ns", "there"}}); }},
                          [&](WorkKey key) -> asio::awaitable<Outcome> {
                            ++world.runs[key.object.name];
                            finished.set();
                            co_return Outcome::done();
                          });
    self = &controller;
    controller.enqueue({"milan", {"ns", "gone"}});
    CHECK_FALSE(controller.is_busy());
    for (int turn = 1; turn <= 2; ++turn) {
      finished.reset();
      co_await until(controller, finished, world.clock);
      CHECK(world.runs == std::map<std::string, int>{{"there", turn}});
      controller.enqueue({"milan", {"ns", "gone"}});
      CHECK_FALSE(controller.is_busy());
    }
  }());
}

TEST_CASE("a controller whose fill throws is one that does not run") {
  run([]() -> asio::awaitable<void> {
    World world;
    auto executor = co_await asio::this_coro::executor;
    Controller controller({executor, world.clock, world.random, world.metrics},
                          {.name = "test", .fill = [] { throw std::runtime_error("a bug"); }},
                          [](WorkKey) -> asio::awaitable<Outcome> { co_return Outcome::done(); });
    std::string thrown;
    try {
      co_await controller.run();
    } catch (const std::runtime_error& error) {
      thrown = error.what();
    }
    CHECK(thrown == "a bug");
    controller.enqueue({"milan", {"ns", "gone"}});
    CHECK_FALSE(controller.is_busy());
  }());
}

TEST_CASE("a stopping controller lets the running reconcile finish") {
  run([]() -> asio::awaitable<void> {
    World world;
    auto executor = co_await asio::this_coro::executor;
    async::Event started(executor);
    bool finished = false;
    Controller controller({executor, world.clock, world.random, world.metrics}, {.name = "test"},
                          [&](WorkKey) -> asio::awaitable<Outcome> {
                            started.set();
                            co_await world.clock.sleep(30ms);
                            finished = true;
                            co_return Outcome::done();
                          });
    controller.enqueue({"milan", {"ns", "pod"}});
    co_await until(controller, started, world.clock);
    CHECK(finished);
  }());
}

TEST_CASE("the grace of a stopping controller ends with the leadership under which it ran") {
  struct Switch final : Leadership {
    using Leadership::Leadership;
    using Leadership::set_leading;
  };
  run([]() -> asio::awaitable<void> {
    World world;
    auto executor = co_await asio::this_coro::executor;
    Switch leadership(executor);
    leadership.set_leading(true);
    async::Event started(executor);
    bool cancelled = false;
    Controller controller({executor, world.clock, world.random, world.metrics, &leadership}, {.name = "test"},
                          [&](WorkKey) -> asio::awaitable<Outcome> {
                            struct AtEnd {
                              bool& over;
                              ~AtEnd() { over = true; }
                            } at_end{cancelled};
                            started.set();
                            co_await world.clock.sleep(1h);
                            co_return Outcome::done();
                          });
    controller.enqueue({"milan", {"ns", "pod"}});
    async::TaskGroup group(executor);
    group.spawn(controller.run());
    co_await started.wait();
    group.cancel();
    co_await world.clock.sleep(20ms);
    CHECK_FALSE(cancelled);
    const auto lost_at = world.clock.now();
    leadership.set_leading(false);
    co_await group.stop();
    CHECK(cancelled);
    CHECK(world.clock.now() - lost_at < 5s);
  }());
}

TEST_CASE("a reconcile that was cancelled when the controller stopped is done when it runs again") {
  run([]() -> asio::awaitable<void> {
    World world;
    auto executor = co_await asio::this_coro::executor;
    async::Event started(executor);
    async::Event finished(executor);
    Controller controller({executor, world.clock, world.random, world.metrics}, {.name = "test", .grace = 1ms},
                          [&](WorkKey key) -> asio::awaitable<Outcome> {
                            started.set();
                            if (++world.runs[key.object.name] == 1) co_await world.clock.sleep(1h);
                            finished.set();
                            co_return Outcome::done();
                          });
    controller.enqueue({"milan", {"ns", "pod"}});
    co_await until(controller, started, world.clock);
    CHECK(!finished.is_set());
    co_await until(controller, finished, world.clock);
    CHECK(world.runs["pod"] == 2);
  }());
}

TEST_CASE("what is due in ten seconds or more is due at a full second, and nothing is too early") {
  testing::Simulator simulator(1);
  Random random(7);
  Metrics metrics;
  const std::map<std::string, Duration> delays{{"a", 3100ms}, {"b", 3400ms}, {"c", 12100ms}, {"d", 12600ms}};
  std::map<std::string, std::set<TimePoint>> at;
  Controller controller({simulator.executor(), simulator.clock(), random, metrics}, {.name = "test"},
                        [&](WorkKey key) -> asio::awaitable<Outcome> {
                          at[key.object.name].insert(simulator.clock().now());
                          co_return Outcome::again_after(delays.at(key.object.name));
                        });
  async::TaskGroup group(simulator.executor());
  group.spawn(controller.run());
  CHECK(simulator.run_for(300ms) == testing::Simulator::End::reached);
  const TimePoint began = simulator.clock().now();
  for (const auto& [name, delay] : delays) controller.enqueue({"milan", {"ns", name}});
  CHECK(simulator.run_for(14s) == testing::Simulator::End::reached);
  simulator.run(group.stop());
  CHECK(at["a"].size() == 5);
  CHECK(at["a"].contains(began + 3100ms));
  CHECK(at["b"].contains(began + 3400ms));
  REQUIRE(at["c"].size() == 2);
  CHECK(at["c"] == at["d"]);
  const Duration second = *at["d"].rbegin() - began;
  CHECK(second >= 12600ms);
  CHECK(second < 13600ms);
}

TEST_CASE("a key is not tried again before the time that a server's refusal asks for") {
  testing::Simulator simulator(1);
  Random random(7);
  Metrics metrics;
  std::map<std::string, int> runs;
  Controller controller({simulator.executor(), simulator.clock(), random, metrics}, {.name = "test"},
                        [&](WorkKey key) -> asio::awaitable<Outcome> {
                          ++runs[key.object.name];
                          if (key.object.name == "broken") co_return Outcome::retry(Failure(Errc::closed, "it broke"));
                          Failure refusal = Failure::from_status({.code = 429, .retry_after = 60s});
                          co_return Outcome::retry(std::move(refusal).in("writing the status"));
                        });
  async::TaskGroup group(simulator.executor());
  group.spawn(controller.run());
  for (const char* name : {"throttled", "broken"}) controller.enqueue({"milan", {"ns", name}});
  CHECK(simulator.run_for(59s) == testing::Simulator::End::reached);
  CHECK(runs["throttled"] == 1);
  CHECK(runs["broken"] > 5);
  CHECK(simulator.run_for(2s) == testing::Simulator::End::reached);
  CHECK(runs["throttled"] == 2);
  controller.enqueue({"milan", {"ns", "throttled"}});
  CHECK(simulator.run_for(1s) == testing::Simulator::End::reached);
  CHECK(runs["throttled"] == 3);
  simulator.run(group.stop());
}
