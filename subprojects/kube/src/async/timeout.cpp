#include "kube/async/timeout.hpp"

namespace kube::async::detail {

asio::awaitable<void> store(asio::awaitable<void> operation, std::optional<bool>& out) {
  co_await std::move(operation);
  out = true;
}

}  // namespace kube::async::detail
