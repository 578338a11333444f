#include "kube/client/find_live.hpp"

namespace kube {

asio::awaitable<Result<std::optional<Object>>> find_live(Api& api, Resource resource, ObjectKey key) {
  auto live = co_await api.get(resource, key);
  if (live) co_return std::optional(std::move(*live));
  if (live.error().is_not_found()) co_return std::optional<Object>();
  co_return std::unexpected(std::move(live.error()));
}

}  // namespace kube
