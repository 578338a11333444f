// Deadlines for coroutines. Used at the edges: dial, handshake, answer headers, watch idle, shutdown.
// Tested by test/async/async_test.cpp.
#pragma once

#include <exception>
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

/// How an operation under a deadline ended, if it did not end well.
struct Unfinished {
  std::exception_ptr failure;
  bool late = false;  ///< it was cancelled because its time was up
};
/// Runs `operation`, cancels it at `at`, and waits until it has unwound.
asio::awaitable<Unfinished> run_until(Clock& clock, asio::awaitable<void> operation, TimePoint at);
}  // namespace detail

/// Runs `operation` under a deadline. On expiry the operation is cancelled and awaited until it has unwound, and an
/// empty optional (for void: false) is returned. A value that arrives in the same turn as the deadline is returned,
/// never dropped. What the operation throws is thrown; cancellation of the caller throws operation_aborted. To wait for
/// an Event, `Event::wait_until` costs less.
template <class T>
asio::awaitable<std::conditional_t<std::is_void_v<T>, bool, std::optional<T>>> with_deadline(
    Clock& clock, asio::awaitable<T> operation, Deadline deadline) {
  std::optional<std::conditional_t<std::is_void_v<T>, bool, T>> value;
  if (deadline.at == TimePoint::max()) {
    co_await detail::store(std::move(operation), value);
  } else {
    const detail::Unfinished end =
        co_await detail::run_until(clock, detail::store(std::move(operation), value), deadline.at);
    if (!value && !end.late) std::rethrow_exception(end.failure);
  }
  if constexpr (std::is_void_v<T>) {
    co_return value.has_value();
  } else {
    co_return std::move(value);
  }
}

/// Runs `operation` for at most `timeout`, under the rules of with_deadline().
template <class T>
auto with_timeout(Clock& clock, asio::awaitable<T> operation, Duration timeout) {
  return with_deadline(clock, std::move(operation), clock.deadline_in(timeout));
}

}  // namespace kube::async
