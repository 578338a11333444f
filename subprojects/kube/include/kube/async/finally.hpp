// The way out of a coroutine that has something to stop.
// Tested by test/async/async_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "kube/async/task_group.hpp"

namespace kube::async {

namespace asio = boost::asio;

/// Awaits `body`, and then `cleanup`, however the body ended: with a value, by an exception, or cancelled. Nothing
/// cancels the cleanup or what the caller does after it, so this is for the last thing that a coroutine does. An
/// exception of the body is thrown after the cleanup; an exception of the cleanup is thrown in its place.
template <class T>
asio::awaitable<T> finally(asio::awaitable<T> body, asio::awaitable<void> cleanup) {
  std::exception_ptr failure;
  std::optional<std::conditional_t<std::is_void_v<T>, bool, T>> answer;
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(body);
    } else {
      answer.emplace(co_await std::move(body));
    }
  } catch (...) {
    failure = std::current_exception();
  }
  // A cancelled coroutine would throw again at its next wait.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await std::move(cleanup);
  if (failure) std::rethrow_exception(failure);
  if constexpr (!std::is_void_v<T>) co_return std::move(*answer);
}

/// Stops one group after the other: what the first of them uses may be in the next.
template <class... Groups>
asio::awaitable<void> stop_in_turn(Groups&... groups) {
  (co_await groups.stop(), ...);
}

}  // namespace kube::async
