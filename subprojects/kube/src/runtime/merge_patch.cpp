#include "kube/runtime/merge_patch.hpp"

namespace kube {

asio::awaitable<Result<std::optional<Object>>> merge_patch(Api& api, Informer& cache, ObjectKey key, MergePatch patch) {
  auto patched =
      co_await api.patch(cache.scope().resource, key, {PatchType::merge, std::move(patch.body)}, patch.options);
  if (!patched && patched.error().is_not_found()) co_return std::nullopt;
  if (!patched) co_return fail(std::move(patched.error()), patch.phase);
  // A deleted object without finalizers has gone with this write: the answer would bring it back into the cache.
  if (!patched->is_deleting() || !array_at(patched->metadata(), {"finalizers"}).empty()) cache.observe(*patched);
  co_return std::move(*patched);
}

}  // namespace kube
