#include "kube/runtime/leadership.hpp"

#include <boost/asio/this_coro.hpp>

#include "kube/async/task_group.hpp"

namespace kube {

void Leadership::set_leading(bool leading) {
  if (leading) {
    lost_.reset();
    leading_.set();
  } else {
    leading_.reset();
    lost_.set();
  }
}

asio::awaitable<void> run_while_leading(Leadership& leadership, std::function<asio::awaitable<void>()> work) {
  while (true) {
    co_await leadership.wait_leading();
    async::TaskGroup group(co_await asio::this_coro::executor);
    std::exception_ptr ended;
    try {
      group.spawn(work());
      co_await leadership.wait_lost();
    } catch (...) {
      ended = std::current_exception();
    }
    // After a lost leadership a cancellation must still be heard; after a cancellation there is nothing more to hear.
    if (ended) co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await group.stop();
    if (ended) std::rethrow_exception(ended);
  }
}

}  // namespace kube
