#include "wait.hpp"

namespace liqoctl {

asio::awaitable<Result<void>> wait_for_absence(Cluster& cluster, kube::Deadline deadline,
                                               const kube::Resource& resource, std::string ns,
                                               std::string label_selector, std::string what) {
  // Lives in this frame until the last probe has ended.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const std::function<asio::awaitable<Result<Look<bool>>>()> probe = [&]() -> asio::awaitable<Result<Look<bool>>> {
    auto left = co_await cluster.list(resource, ns, label_selector);
    if (!left) co_return std::unexpected(std::move(left.error()));
    Look<bool> look;
    if (left->empty()) look.value = true;
    for (const Object& object : *left) {
      if (look.seen.size() > 200) break;
      look.seen += (look.seen.empty() ? "" : ", ") + object.key().text();
    }
    if (!left->empty()) look.seen += left->size() == 1 ? " is still there" : " are still there";
    co_return look;
  };
  auto gone = co_await wait_for<bool>(cluster, deadline, std::move(what), probe);
  if (!gone) co_return std::unexpected(std::move(gone.error()));
  co_return Result<void>();
}

}  // namespace liqoctl
