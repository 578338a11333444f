#include "kube/runtime/merge_patch.hpp"

namespace kube {
namespace {

/// Whether a deleted object has gone with this write: nothing holds it any more.
bool is_gone(const Object& object) {
  return object.is_deleting() && array_at(object.metadata(), {"finalizers"}).empty() &&
         array_at(object.spec(), {"finalizers"}).empty() &&
         int_at(object.metadata(), {"deletionGracePeriodSeconds"}) == 0;
}

}  // namespace

asio::awaitable<Result<std::optional<Object>>> merge_patch(Api& api, Informer& cache, ObjectKey key, MergePatch patch) {
  auto patched = co_await api.patch(cache.scope().resource, key, {patch.type, std::move(patch.body)}, patch.options);
  if (!patched && patched.error().is_not_found()) co_return std::nullopt;
  if (!patched) co_return fail(std::move(patched.error()), patch.phase);
  // The answer would bring one that is gone back into the cache.
  if (!is_gone(*patched)) cache.observe(*patched);
  co_return std::move(*patched);
}

}  // namespace kube
