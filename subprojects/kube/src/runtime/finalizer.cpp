#include "kube/runtime/finalizer.hpp"

#include "kube/runtime/merge_patch.hpp"

namespace kube {

asio::awaitable<Result<void>> set_finalizer(Api& api, Informer& informer, Object live, std::string_view finalizer,
                                            bool wanted) {
  if (wanted && live.is_deleting()) co_return Result<void>();
  const auto patch = finalizer_patch(live, finalizer, wanted);
  if (!patch) co_return Result<void>();
  auto patched = co_await merge_patch(api, informer, live.key(), json::serialize(*patch),
                                      wanted ? "adding the finalizer" : "removing the finalizer");
  if (!patched) co_return std::unexpected(std::move(patched.error()));
  co_return Result<void>();
}

}  // namespace kube
