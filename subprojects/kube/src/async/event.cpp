#include "kube/async/event.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace kube::async {

Event::Event(const asio::any_io_executor& executor) : waiters_(executor, asio::steady_timer::time_point::max()) {}

void Event::set() {
  set_ = true;
  waiters_.cancel();
}

asio::awaitable<void> Event::next_wake() {
  boost::system::error_code woken;
  co_await waiters_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  // Both set() and a cancellation end the wait with operation_aborted; only the latter leaves this trace.
  const auto state = co_await asio::this_coro::cancellation_state;
  if (!set_ && state.cancelled() != asio::cancellation_type::none)
    throw boost::system::system_error(asio::error::operation_aborted);
}

asio::awaitable<void> Event::wait() {
  while (!set_) co_await next_wake();
}

asio::awaitable<bool> Event::wait_until(Clock& clock, Deadline deadline) {
  if (set_ || deadline.at <= clock.now()) co_return set_;
  if (deadline.at == TimePoint::max()) {
    co_await wait();
    co_return true;
  }
  struct Late {
    asio::steady_timer& waiters;
    bool due = false;
  } late{waiters_};
  // The alarm wakes the other waiters, too: they wait again.
  const AlarmScope alarm(clock, waiters_.get_executor(), deadline.at, [&late] {
    late.due = true;
    late.waiters.cancel();
  });
  while (!set_ && !late.due) co_await next_wake();
  co_return set_;
}

asio::awaitable<void> Event::wait_and_reset() {
  co_await wait();
  set_ = false;
}

}  // namespace kube::async
