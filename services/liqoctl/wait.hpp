// Waiting for what controllers do: with a deadline, and with words about what is still missing.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "cluster.hpp"
#include "text/duration.hpp"

namespace liqoctl {

/// What one look found: the value that was waited for, or what there is instead.
template <class T>
struct Look {
  std::optional<T> value;
  std::string seen;  ///< "condition Ready is False: ..."; for the message of a time-out
};

/// Whether a failure may pass by itself: nothing was decided yet.
inline bool may_pass(const kube::Failure& failure) {
  return failure.code() == kube::Errc::connect || failure.code() == kube::Errc::closed ||
         failure.code() == kube::Errc::timeout || failure.is_conflict() || failure.http_code() >= 500 ||
         failure.http_code() == 429;
}

/// Looks at once and then again and again, soon at first and every half second later, until there is a value. `what`
/// completes "waiting for". Failures: Errc::timeout, and at once those of `look` that will not pass.
template <class T>
asio::awaitable<Result<T>> wait_for(Cluster& cluster, kube::Deadline deadline, std::string what,
                                    std::function<asio::awaitable<Result<Look<T>>>()> look) {
  kube::async::Clock& clock = cluster.clock();
  cluster.output().doing(cluster.scope(), "waiting for " + what);
  const auto started = clock.now();
  kube::Duration pause = std::chrono::milliseconds(10);
  std::string seen;
  while (true) {
    auto found = co_await look();
    if (found && found->value) co_return std::move(*found->value);
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

/// Waits until one object is as wanted: `look` gets it, or nullptr while there is none.
template <class T>
asio::awaitable<Result<T>> wait_for_object(Cluster& cluster, kube::Deadline deadline, const kube::Resource& resource,
                                           kube::ObjectKey key, std::string what,
                                           std::function<Look<T>(const Object*)> look) {
  // Lives in this frame until the last probe has ended.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const std::function<asio::awaitable<Result<Look<T>>>()> probe = [&]() -> asio::awaitable<Result<Look<T>>> {
    auto found = co_await cluster.find(resource, key);
    if (!found) co_return std::unexpected(std::move(found.error()));
    co_return look(*found ? &**found : nullptr);
  };
  co_return co_await wait_for<T>(cluster, deadline, std::move(what), probe);
}

/// Waits until there is nothing left that the selectors pick.
asio::awaitable<Result<void>> wait_for_absence(Cluster& cluster, kube::Deadline deadline,
                                               const kube::Resource& resource, std::string ns,
                                               std::string label_selector, std::string what);

}  // namespace liqoctl
