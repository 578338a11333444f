#include "kube/async/timeout.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace kube::async::detail {

asio::awaitable<void> store(asio::awaitable<void> operation, std::optional<bool>& out) {
  co_await std::move(operation);
  out = true;
}

asio::awaitable<Unfinished> run_until(Clock& clock, asio::awaitable<void> operation, TimePoint at) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  struct Race {
    asio::cancellation_signal stop;
    ChildEnd end;
    bool late = false;
  } race;
  const AlarmScope alarm(clock, executor, at, [&race] {
    race.late = true;
    race.stop.emit(asio::cancellation_type::terminal);
  });
  // One coroutine and an alarm: a parallel group of two would do the same with three times the allocations.
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
      [&executor, &race](auto caller, asio::awaitable<void> child) {
        const auto cancelled = asio::get_associated_cancellation_slot(caller);
        auto done = [cancelled, caller = std::move(caller)](const std::exception_ptr&) mutable {
          if (cancelled.is_connected()) asio::cancellation_slot(cancelled).clear();
          std::move(caller)();
        };
        if (cancelled.is_connected())
          asio::cancellation_slot(cancelled).assign([&race](asio::cancellation_type type) { race.stop.emit(type); });
        asio::co_spawn(executor, contained(std::move(child), race.end),
                       asio::bind_cancellation_slot(race.stop.slot(), std::move(done)));
      },
      asio::use_awaitable, std::move(operation));
  co_return Unfinished{std::move(race.end.failure), race.late && race.end.cancelled};
}

}  // namespace kube::async::detail
