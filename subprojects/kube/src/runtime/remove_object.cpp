#include "kube/runtime/remove_object.hpp"

namespace kube {

asio::awaitable<Result<bool>> remove_object(Api& api, Resource resource, ObjectKey key, Removal removal) {
  auto removed = co_await api.remove(resource, key, removal.options);
  if (removed) co_return true;
  const bool is_of_uid = !removal.options.uid.empty() && removal.options.resource_version.empty();
  const Failure& failure = removed.error();
  if (failure.is_not_found() || (is_of_uid && failure.is_conflict())) co_return false;
  co_return fail(std::move(removed.error()), removal.phase);
}

}  // namespace kube
