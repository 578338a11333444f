#include "kube/async/clock.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace kube::async {

TimePoint RealClock::now() const { return std::chrono::steady_clock::now(); }

WallTime RealClock::wall() const {
  return std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
}

asio::awaitable<void> Clock::sleep_until(TimePoint at) {
  if (!co_await wait_until(at)) throw boost::system::system_error(asio::error::operation_aborted);
}

asio::awaitable<bool> RealClock::wait_until(TimePoint at) {
  if (at <= now()) co_return true;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  timer.expires_at(std::chrono::time_point_cast<asio::steady_timer::duration>(at));
  boost::system::error_code woken;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  co_return !woken;
}

}  // namespace kube::async
