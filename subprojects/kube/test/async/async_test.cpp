// Task groups, events, deadlines, the alarms of the real clock, and clean-up after a coroutine.
#include <doctest/doctest.h>

#include <string>

#include "kube/async/event.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/timeout.hpp"
#include "support/captured_stderr.hpp"
#include "support/run.hpp"

namespace {

using namespace std::chrono_literals;
using namespace kube::async;
using kube::test::run;

RealClock real;

asio::awaitable<std::string> value_after(kube::Duration delay) {
  co_await real.sleep(delay);
  co_return std::string(60, 'v');
}
asio::awaitable<void> fail_after(kube::Duration delay) {
  co_await real.sleep(delay);
  throw std::runtime_error("boom");
}
asio::awaitable<void> counted(int& alive, kube::Duration delay) {
  struct Guard {
    int& alive;
    ~Guard() { --alive; }
  };
  ++alive;
  Guard guard{alive};
  co_await real.sleep(delay);
}
asio::awaitable<void> wait_for(Event& event, int& woken) {
  co_await event.wait();
  ++woken;
}

}  // namespace

TEST_CASE("a value that arrives in time is returned") {
  run([]() -> asio::awaitable<void> {
    auto value = co_await with_timeout(real, value_after(1ms), 5s);
    CHECK(value.value().size() == 60);
  }());
}

TEST_CASE("the longest duration is a deadline that never comes") {
  CHECK(real.deadline_in(kube::Duration::max()).at == kube::TimePoint::max());
  CHECK(real.deadline_in(1h).at < real.now() + 2h);
  run([]() -> asio::awaitable<void> {
    const auto value = co_await with_timeout(real, value_after(1ms), kube::Duration::max());
    CHECK(value.has_value());
  }());
}

TEST_CASE("an operation that is late is cancelled and answers nothing") {
  run([]() -> asio::awaitable<void> {
    auto value = co_await with_timeout(real, value_after(5s), 5ms);
    CHECK_FALSE(value.has_value());
  }());
}

TEST_CASE("a failure under a deadline is thrown at once") {
  run([]() -> asio::awaitable<void> {
    const auto start = real.now();
    CHECK_THROWS_WITH(co_await with_timeout(real, fail_after(1ms), 30s), "boom");
    CHECK(real.now() - start < 10s);
  }());
}

TEST_CASE("the first failing child cancels its siblings and join throws its failure") {
  run([]() -> asio::awaitable<void> {
    int alive = 0;
    TaskGroup group(co_await asio::this_coro::executor);
    group.spawn(counted(alive, 30s));
    group.spawn(counted(alive, 30s));
    group.spawn(fail_after(1ms));
    CHECK_THROWS_WITH(co_await group.join(), "boom");
    CHECK(alive == 0);
  }());
}

TEST_CASE("of two children that fail one is thrown to whoever joins, and the other is logged") {
  const kube::test::CapturedStderr log;
  run([]() -> asio::awaitable<void> {
    TaskGroup group(co_await asio::this_coro::executor);
    const auto fail_when_cancelled = []() -> asio::awaitable<void> {
      try {
        co_await real.sleep(30s);
      } catch (const boost::system::system_error&) {
        throw std::runtime_error("crash");
      }
    };
    group.spawn(fail_when_cancelled());
    group.spawn(fail_after(1ms));
    CHECK_THROWS_WITH(co_await group.join(), "boom");
  }());
  CHECK(log.lines_with("a worker has ended by an exception error=crash") == 1);
}

TEST_CASE("children of a group with keep_others survive a failing sibling") {
  run([]() -> asio::awaitable<void> {
    int alive = 0;
    TaskGroup group(co_await asio::this_coro::executor, TaskGroup::OnFailure::keep_others);
    group.spawn(fail_after(0ms));
    group.spawn(counted(alive, 30s));
    co_await real.sleep(10ms);
    CHECK(alive == 1);
    CHECK(group.size() == 1);
    co_await group.stop();
    CHECK(alive == 0);
  }());
}

TEST_CASE("a group under a deadline ends its children before the deadline answers") {
  run([]() -> asio::awaitable<void> {
    int alive = 0;
    struct Scope {
      static asio::awaitable<int> two_children(int& count) {
        TaskGroup group(co_await asio::this_coro::executor);
        group.spawn(counted(count, 30s));
        group.spawn(counted(count, 30s));
        co_await group.join();
        co_return 1;
      }
    };
    auto joined = co_await with_timeout(real, Scope::two_children(alive), 10ms);
    CHECK_FALSE(joined.has_value());
    CHECK(alive == 0);
  }());
}

TEST_CASE("a child spawned into a cancelled group never runs past its first wait") {
  run([]() -> asio::awaitable<void> {
    int alive = 0;
    TaskGroup group(co_await asio::this_coro::executor);
    group.cancel();
    group.spawn(counted(alive, 30s));
    co_await group.join();
    CHECK(alive == 0);
  }());
}

TEST_CASE("a child that is cancelled before the loop has begun it never runs, and its group ends") {
  asio::io_context io(1);
  int alive = 0, begun = 0;
  TaskGroup group(io.get_executor());
  group.spawn([](int& count) -> asio::awaitable<void> {
    ++count;
    co_return;
  }(begun));
  group.spawn(counted(alive, 30s));
  group.cancel();
  bool joined = false;
  run(io, [](TaskGroup& all, bool& done) -> asio::awaitable<void> {
    co_await all.join();
    done = true;
  }(group, joined));
  CHECK(joined);
  CHECK(begun == 0);
  CHECK(alive == 0);
  CHECK(group.size() == 0);
}

TEST_CASE("an event set before the wait is not forgotten, and wakes every waiter") {
  run([]() -> asio::awaitable<void> {
    auto executor = co_await asio::this_coro::executor;
    Event event(executor);
    int woken = 0;
    TaskGroup group(executor);
    group.spawn(wait_for(event, woken));
    group.spawn(wait_for(event, woken));
    co_await real.sleep(1ms);
    CHECK(woken == 0);
    event.set();
    co_await group.join();
    CHECK(woken == 2);
    co_await event.wait();
    co_await event.wait_and_reset();
    CHECK_FALSE(event.is_set());
  }());
}

TEST_CASE("a cancelled wait for an event throws and does not count as set") {
  run([]() -> asio::awaitable<void> {
    auto executor = co_await asio::this_coro::executor;
    Event event(executor);
    int woken = 0;
    TaskGroup group(executor);
    group.spawn(wait_for(event, woken));
    co_await real.sleep(1ms);
    co_await group.stop();
    CHECK(woken == 0);
    CHECK_FALSE(event.is_set());
  }());
}

TEST_CASE("a child that cancels its own group before it has waited for anything still ends") {
  struct Scope {
    static asio::awaitable<void> cancel_at_once(TaskGroup& group, bool failing) {
      group.cancel();
      if (failing) throw std::runtime_error("boom");
      co_return;
    }
  };
  for (const bool failing : {false, true}) {
    bool joined = false;
    run([](bool fails, bool& done) -> asio::awaitable<void> {
      TaskGroup group(co_await asio::this_coro::executor);
      group.spawn(Scope::cancel_at_once(group, fails));
      if (fails) {
        CHECK_THROWS_WITH(co_await group.join(), "boom");
      } else {
        co_await group.join();
      }
      done = true;
    }(failing, joined));
    CHECK(joined);
  }
}

TEST_CASE("a wait for an event ends at its deadline, without disturbing the other waiters") {
  run([]() -> asio::awaitable<void> {
    auto executor = co_await asio::this_coro::executor;
    Event event(executor);
    int woken = 0;
    TaskGroup group(executor);
    group.spawn(wait_for(event, woken));
    CHECK_FALSE(co_await event.wait_for(real, 2ms));
    CHECK(woken == 0);
    CHECK_FALSE(co_await event.wait_until(real, {real.now() - 1s}));
    event.set();
    CHECK(co_await event.wait_for(real, 30s));
    CHECK(co_await event.wait_until(real, kube::Deadline::never()));
    CHECK(co_await event.wait_until(real, {real.now() - 1s}));
    co_await group.join();
    CHECK(woken == 1);
  }());
}

TEST_CASE("a wait for an event that is set before its deadline ends at once") {
  run([]() -> asio::awaitable<void> {
    auto executor = co_await asio::this_coro::executor;
    Event event(executor);
    struct Scope {
      static asio::awaitable<void> set_after(Event& which, kube::Duration delay) {
        co_await real.sleep(delay);
        which.set();
      }
    };
    TaskGroup group(executor);
    group.spawn(Scope::set_after(event, 1ms));
    const auto start = real.now();
    CHECK(co_await event.wait_for(real, 30s));
    CHECK(real.now() - start < 10s);
    co_await group.join();
  }());
}

TEST_CASE("the caller's cancellation ends what runs under a deadline, and throws") {
  run([]() -> asio::awaitable<void> {
    auto executor = co_await asio::this_coro::executor;
    int alive = 0;
    bool thrown = false;
    struct Scope {
      static asio::awaitable<void> under_deadlines(int& count, bool& cancelled) {
        try {
          co_await with_timeout(real, with_timeout(real, counted(count, 30s), 20s), 25s);
        } catch (...) {
          cancelled = is_cancellation(std::current_exception());
          throw;
        }
      }
      static asio::awaitable<void> for_event(Event& event, bool& cancelled) {
        try {
          co_await event.wait_for(real, 30s);
        } catch (...) {
          cancelled = is_cancellation(std::current_exception());
          throw;
        }
      }
    };
    TaskGroup group(executor);
    group.spawn(Scope::under_deadlines(alive, thrown));
    co_await real.sleep(1ms);
    CHECK(alive == 1);
    co_await group.stop();
    CHECK(alive == 0);
    CHECK(thrown);

    thrown = false;
    Event event(executor);
    TaskGroup waiting(executor);
    waiting.spawn(Scope::for_event(event, thrown));
    co_await waiting.stop();
    CHECK(thrown);
  }());
}

TEST_CASE("an operation that ends without having waited answers under a deadline, also a cancelled one") {
  run([]() -> asio::awaitable<void> {
    struct Scope {
      static asio::awaitable<int> at_once() { co_return 7; }
      static asio::awaitable<void> cancel_and_answer(TaskGroup& group, std::optional<int>& answer) {
        group.cancel();
        answer = co_await with_timeout(real, at_once(), 30s);
      }
    };
    CHECK(co_await with_timeout(real, Scope::at_once(), 30s) == 7);
    std::optional<int> answer;
    TaskGroup group(co_await asio::this_coro::executor);
    group.spawn(Scope::cancel_and_answer(group, answer));
    co_await group.join();
    CHECK_FALSE(answer.has_value());
  }());
}

TEST_CASE("alarms of the real clock ring in order, each once, and not when they were taken back") {
  std::string rung;
  run([](std::string& out) -> asio::awaitable<void> {
    auto executor = co_await asio::this_coro::executor;
    const auto start = real.now();
    const auto note = [&out](char letter) { return [&out, letter] { out.push_back(letter); }; };
    real.call_at(executor, start + 6ms, note('c'));
    const auto forgotten = real.call_at(executor, start + 1ms, note('x'));
    real.call_at(executor, start + 4ms, note('b'));
    real.call_at(executor, start + 2ms, [&out, executor, start] {
      out.push_back('a');
      // Due already: at the next turn, before the loop ends for want of work.
      real.call_at(executor, start, [&out] { out.push_back('!'); });
    });
    real.cancel(forgotten);
    co_await real.sleep(8ms);
    CHECK(real.now() - start >= 8ms);
  }(rung));
  // How late the loop turns depends on the machine, so what is due at the next turn may come after what is due by then.
  CHECK(rung.find('!') > rung.find('a'));
  CHECK(std::erase(rung, '!') == 1);
  CHECK(rung == "abc");
}

TEST_CASE("a loop with nothing but alarms that were taken back ends") {
  const auto start = real.now();
  run([]() -> asio::awaitable<void> {
    auto executor = co_await asio::this_coro::executor;
    real.cancel(real.call_at(executor, real.now() + 30s, [] {}));
  }());
  CHECK(real.now() - start < 10s);
}

TEST_CASE("what ends in any way is cleaned up behind, which nothing cancels") {
  int cleaned = 0;
  const auto cleanup = [](int& count) -> asio::awaitable<void> {
    co_await real.sleep(1ms);
    ++count;
  };
  SUBCASE("with its answer") {
    run([](auto clean) -> asio::awaitable<void> {
      CHECK((co_await finally(value_after(1ms), std::move(clean))).size() == 60);
    }(cleanup(cleaned)));
  }
  SUBCASE("by an exception") {
    run([](auto clean) -> asio::awaitable<void> {
      CHECK_THROWS_WITH(co_await finally(fail_after(1ms), std::move(clean)), "boom");
    }(cleanup(cleaned)));
  }
  SUBCASE("cancelled") {
    run([](auto clean) -> asio::awaitable<void> {
      CHECK_FALSE(co_await with_timeout(real, finally(real.sleep(1h), std::move(clean)), 5ms));
    }(cleanup(cleaned)));
  }
  CHECK(cleaned == 1);
}
