// Many things of one sort, done side by side, and not all at once.
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

/// Calls `act`, which answers with an awaitable, with each item, the last one first, `most` of them under way at a
/// time; ends when all have ended. What `act` adds to the items or takes away counts. The items outlive this.
template <typename Item, typename Act>
asio::awaitable<void> some_at_a_time(std::vector<Item>& items, std::size_t most, Act act) {
  kube::async::TaskGroup group(co_await asio::this_coro::executor);
  const std::size_t workers = std::min(items.size(), most);
  for (std::size_t i = 0; i < workers; ++i) group.spawn(act_on_rest(items, act));
  co_await group.join();
}

}  // namespace liqo::controllers
