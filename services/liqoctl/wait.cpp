#include "wait.hpp"

#include <algorithm>

#include "text/duration.hpp"

namespace liqoctl {
namespace {

/// Whether a failure may pass by itself: nothing was decided yet.
bool may_pass(const kube::Failure& failure) {
  return failure.code() == kube::Errc::connect || failure.code() == kube::Errc::closed ||
         failure.code() == kube::Errc::timeout || failure.is_conflict() || failure.http_code() >= 500 ||
         failure.http_code() == 429;
}

}  // namespace

asio::awaitable<Result<void>> wait_for(Cluster& cluster, kube::Deadline deadline, std::string what,
                                       std::function<asio::awaitable<Result<Look>>()> look) {
  kube::async::Clock& clock = cluster.clock();
  cluster.output().doing(cluster.scope(), "waiting for " + what);
  const auto started = clock.now();
  kube::Duration pause = std::chrono::milliseconds(10);
  std::string seen;
  while (true) {
    auto found = co_await look();
    if (found && found->done) co_return Result<void>();
    if (!found && !may_pass(found.error())) co_return kube::fail(std::move(found.error()), "waiting for " + what);
    seen = found ? found->seen : found.error().text();
    if (clock.now() >= deadline.at)
      co_return kube::fail(kube::Errc::timeout, "gave up waiting for " + what + " after " +
                                                    text::age(clock.now() - started) +
                                                    (seen.empty() ? "" : "; last seen: " + seen));
    co_await clock.sleep_until(std::min(clock.now() + pause, deadline.at));
    // By a fifth: what is waited for is seen at most that much later than it came.
    pause = std::min<kube::Duration>(pause * 6 / 5, std::chrono::milliseconds(500));
  }
}

asio::awaitable<Result<void>> wait_for_object(Cluster& cluster, kube::Deadline deadline, const kube::Resource& resource,
                                              kube::ObjectKey key, std::string what,
                                              std::function<Look(const Object*)> look) {
  // Lives in this frame until the last probe has ended.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const std::function<asio::awaitable<Result<Look>>()> probe = [&]() -> asio::awaitable<Result<Look>> {
    auto found = co_await cluster.find(resource, key);
    if (!found) co_return std::unexpected(std::move(found.error()));
    co_return look(*found ? &**found : nullptr);
  };
  co_return co_await wait_for(cluster, deadline, std::move(what), probe);
}

asio::awaitable<Result<void>> wait_for_absence(Cluster& cluster, kube::Deadline deadline,
                                               const kube::Resource& resource, std::string ns,
                                               std::string label_selector, std::string what) {
  // Lives in this frame until the last probe has ended.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const std::function<asio::awaitable<Result<Look>>()> probe = [&]() -> asio::awaitable<Result<Look>> {
    auto left = co_await cluster.list(resource, ns, label_selector);
    if (!left) co_return std::unexpected(std::move(left.error()));
    Look look{.done = left->empty()};
    for (const Object& object : *left) {
      if (look.seen.size() > 200) break;
      look.seen += (look.seen.empty() ? "" : ", ") + object.key().text();
    }
    if (!left->empty()) look.seen += left->size() == 1 ? " is still there" : " are still there";
    co_return look;
  };
  co_return co_await wait_for(cluster, deadline, std::move(what), probe);
}

}  // namespace liqoctl
