// Runs a part of a process without which the other parts must not go on.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <exception>

#include "kube/async/task_group.hpp"

namespace kube::async {

/// Runs the part. If it ends by an exception, `lost` holds that and `others` are cancelled. The caller keeps both alive
/// until this has ended.
inline asio::awaitable<void> vital(asio::awaitable<void> part, TaskGroup& others, std::exception_ptr& lost) {
  try {
    co_await std::move(part);
  } catch (...) {
    if (is_cancellation(std::current_exception())) throw;
    lost = std::current_exception();
    others.cancel();
  }
}

}  // namespace kube::async
