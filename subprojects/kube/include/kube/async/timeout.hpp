// Deadlines for coroutines. Used at the edges: dial, handshake, answer headers, watch idle, shutdown.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>

#include "kube/async/clock.hpp"
#include "kube/async/task_group.hpp"

namespace kube::async {

namespace detail {
template <class T>
asio::awaitable<void> store(asio::awaitable<T> operation, std::optional<T>& out) {
  out.emplace(co_await std::move(operation));
}
asio::awaitable<void> store(asio::awaitable<void> operation, std::optional<bool>& out);
}  // namespace detail

/// Runs `operation` under a deadline. On expiry it is cancelled, waited for until it has unwound, and the answer is an
/// empty optional (for void: false). A value that arrives in the same turn as the deadline is returned, never dropped.
/// What the operation throws is thrown; cancellation of the caller throws operation_aborted.
template <class T>
asio::awaitable<std::conditional_t<std::is_void_v<T>, bool, std::optional<T>>> with_deadline(
    Clock& clock, asio::awaitable<T> operation, Deadline deadline) {
  std::optional<std::conditional_t<std::is_void_v<T>, bool, T>> value;
  if (deadline.at == TimePoint::max()) {
    co_await detail::store(std::move(operation), value);
  } else {
    auto executor = co_await asio::this_coro::executor;
    auto race = asio::experimental::make_parallel_group(
        asio::co_spawn(executor, detail::store(std::move(operation), value), asio::deferred),
        asio::co_spawn(executor, clock.wait_until(deadline.at), asio::deferred));
    auto [order, failure, timer_failure, expired] =
        co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    if (!value && !(expired && is_cancellation(failure))) std::rethrow_exception(failure);
  }
  if constexpr (std::is_void_v<T>) {
    co_return value.has_value();
  } else {
    co_return std::move(value);
  }
}

template <class T>
auto with_timeout(Clock& clock, asio::awaitable<T> operation, Duration limit) {
  return with_deadline(clock, std::move(operation), clock.deadline_in(limit));
}

}  // namespace kube::async
