#include "kube/runtime/leadership.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include "cancel_when_lost.hpp"
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
    // A cancellation of the same turn would be thrown by the join, and leave the work without its group.
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
      throw boost::system::system_error(asio::error::operation_aborted);
    async::TaskGroup group(co_await asio::this_coro::executor);
    group.spawn(work());
    group.spawn(cancel_when_lost(leadership, group));
    co_await group.join();
  }
}

}  // namespace kube
