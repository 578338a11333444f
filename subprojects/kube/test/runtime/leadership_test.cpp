#include "kube/runtime/leadership.hpp"

#include <doctest/doctest.h>

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
