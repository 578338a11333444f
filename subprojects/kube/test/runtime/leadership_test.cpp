#include "kube/runtime/leadership.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "kube/async/clock.hpp"
#include "kube/async/task_group.hpp"
#include "support/run.hpp"

using namespace kube;
using namespace std::chrono_literals;
using kube::test::run;

namespace {

class Switch final : public Leadership {
 public:
  using Leadership::Leadership;
  void lead(bool leading) { set_leading(leading); }
};

asio::awaitable<void> fail_at_once() {
  throw std::runtime_error("a bug");
  co_return;
}

}  // namespace

TEST_CASE("work runs only while this process leads, again after it was lost, and is unwound when cancelled") {
  run([]() -> asio::awaitable<void> {
    auto executor = co_await asio::this_coro::executor;
    async::RealClock clock;
    Switch leadership(executor);
    int started = 0, unwound = 0;
    const auto work = [&]() -> asio::awaitable<void> {
      struct Guard {
        int& count;
        ~Guard() { ++count; }
      } guard{unwound};
      ++started;
      co_await clock.sleep(1h);
    };
    async::TaskGroup group(executor);
    group.spawn(run_while_leading(leadership, work));
    co_await clock.sleep(2ms);
    CHECK(started == 0);
    leadership.lead(true);
    co_await clock.sleep(2ms);
    CHECK(started == 1);
    leadership.lead(false);
    co_await clock.sleep(2ms);
    CHECK(unwound == 1);
    leadership.lead(true);
    co_await clock.sleep(2ms);
    CHECK(started == 2);
    co_await group.stop();
    CHECK(unwound == 2);
  }());
}

TEST_CASE("no work is left behind where the lead and the end come in one turn") {
  run([]() -> asio::awaitable<void> {
    auto executor = co_await asio::this_coro::executor;
    async::RealClock clock;
    Switch leadership(executor);
    int running = 0;
    const auto work = [&]() -> asio::awaitable<void> {
      struct Guard {
        int& count;
        ~Guard() { --count; }
      } guard{++running};
      co_await clock.sleep(1h);
    };
    async::TaskGroup group(executor);
    group.spawn(run_while_leading(leadership, work));
    co_await clock.sleep(2ms);
    leadership.lead(true);
    co_await group.stop();
    CHECK(running == 0);
  }());
}

TEST_CASE("work that ends by an exception is not lost in silence while the process goes on leading") {
  run([]() -> asio::awaitable<void> {
    SoleLeader leadership(co_await asio::this_coro::executor);
    std::string thrown;
    try {
      co_await run_while_leading(leadership, fail_at_once);
    } catch (const std::runtime_error& error) {
      thrown = error.what();
    }
    CHECK(thrown == "a bug");
  }());
}
