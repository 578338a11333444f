#include "kube/runtime/finalizer.hpp"

#include "kube/runtime/merge_patch.hpp"

namespace kube {
namespace {

asio::awaitable<Result<void>> send(Api& api, Informer& cache, ObjectKey key, MergePatch patch) {
  KUBE_CO_TRYV(co_await merge_patch(api, cache, std::move(key), std::move(patch)));
  co_return Result<void>();
}

}  // namespace

asio::awaitable<Result<void>> add_finalizer(Api& api, Informer& cache, Object live, std::string_view finalizer) {
  if (live.is_deleting()) co_return Result<void>();
  const auto patch = finalizer_patch(live, finalizer, true);
  if (!patch) co_return Result<void>();
  co_return co_await send(api, cache, live.key(), {.body = json::serialize(*patch), .phase = "adding the finalizer"});
}

asio::awaitable<Result<void>> remove_finalizer(Api& api, Informer& cache, Object live, std::string_view finalizer) {
  const auto patch = finalizer_patch(live, finalizer, false);
  if (!patch) co_return Result<void>();
  co_return co_await send(api, cache, live.key(), {.body = json::serialize(*patch), .phase = "removing the finalizer"});
}

}  // namespace kube
