// Runs an action for many items, some of them at the same time.
#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>
#include <vector>

#include "kube/async/task_group.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

template <typename Item, typename Act>
asio::awaitable<void> act_on_rest(std::vector<Item>& items, Act& act) {
  while (!items.empty()) {
    Item item = std::move(items.back());
    items.pop_back();
    co_await act(std::move(item));
  }
}

/// Calls `act`, which returns an awaitable, with each item, the last one first. At most `most` calls are under way at a
/// time. Ends when all have ended. `act` may add items and take some away. The items outlive this.
template <typename Item, typename Act>
asio::awaitable<void> some_at_a_time(std::vector<Item>& items, std::size_t most, Act act) {
  kube::async::TaskGroup group(co_await asio::this_coro::executor);
  const std::size_t workers = std::min(items.size(), most);
  for (std::size_t i = 0; i < workers; ++i) group.spawn(act_on_rest(items, act));
  co_await group.join();
}

}  // namespace liqo::controllers
