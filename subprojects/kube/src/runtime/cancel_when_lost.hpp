// Ends work when leadership is lost.
#pragma once

#include "kube/async/task_group.hpp"
#include "kube/runtime/leadership.hpp"

namespace kube {

/// Cancels the group once this process does not lead: another replica may do the same work soon.
inline asio::awaitable<void> cancel_when_lost(Leadership& leadership, async::TaskGroup& group) {
  co_await leadership.wait_lost();
  group.cancel();
}

}  // namespace kube
