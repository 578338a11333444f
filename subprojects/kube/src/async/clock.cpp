#include "kube/async/clock.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace kube::async {

TimePoint RealClock::now() const { return std::chrono::steady_clock::now(); }

WallTime RealClock::wall() const {
  return std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
}

asio::awaitable<void> RealClock::sleep_until(TimePoint at) {
  if (at <= now()) co_return;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  timer.expires_at(std::chrono::time_point_cast<asio::steady_timer::duration>(at));
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace kube::async
