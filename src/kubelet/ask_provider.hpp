// Asks a provider that may have fallen silent: kubectl gets an error within seconds, with the name of that provider.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <optional>
#include <string>

#include "kube/async/clock.hpp"
#include "kube/async/task_group.hpp"
#include "kube/net/transport.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

/// The provider that is asked.
struct AskedProvider {
  std::string name;
  std::shared_ptr<kube::net::Upgrader> upgrader;  ///< null: reachability is not checked
};

/// How long an answer may take before a second connection checks whether the provider is reachable, and how long that
/// may take. Together they are below the five seconds after which people think that nothing happens.
struct Doubts {
  kube::Duration after = std::chrono::milliseconds(1500);
  kube::Duration max_look = std::chrono::milliseconds(2500);
};

/// Whether the failure means that nothing answers; false if this side gave up.
inline bool is_out_of_reach(const kube::Failure& failure) {
  const kube::Errc code = failure.code();
  return code == kube::Errc::connect || code == kube::Errc::closed || code == kube::Errc::timeout ||
         code == kube::Errc::tls;
}

/// The failure of a request, with the provider's name if it was never answered.
inline kube::Failure name_provider(const std::string& provider, kube::Failure failure) {
  return is_out_of_reach(failure) ? std::move(failure).in("cluster " + provider + " cannot be reached") : failure;
}

namespace detail {

template <class T>
asio::awaitable<void> take_answer(asio::awaitable<kube::Result<T>> question, std::optional<kube::Result<T>>& answer,
                                  kube::async::TaskGroup& group) {
  answer.emplace(co_await std::move(question));
  group.cancel();
}

/// Finds out, after a while, why the provider cannot be reached; nothing if it can. It uses a connection of its own:
/// the one on which the request waits may be dead without any sign of it.
asio::awaitable<std::optional<kube::Failure>> why_unreachable(AskedProvider provider, kube::async::Clock& clock,
                                                              Doubts doubts);

/// Ends the group if the provider cannot be reached.
asio::awaitable<void> give_up(asio::awaitable<std::optional<kube::Failure>> looking,
                              std::optional<kube::Failure>& unreachable, kube::async::TaskGroup& group);

}  // namespace detail

/// Awaits the answer to `question`, and gives up if the provider turns out to be unreachable. It waits for a slow
/// answer as long as the provider is reachable: a log may have nothing to show.
template <class T>
asio::awaitable<kube::Result<T>> ask_provider(AskedProvider provider, kube::async::Clock& clock, Doubts doubts,
                                              asio::awaitable<kube::Result<T>> question) {
  std::optional<kube::Result<T>> answer;
  std::optional<kube::Failure> unreachable;
  kube::async::TaskGroup group(co_await asio::this_coro::executor);
  group.spawn(detail::take_answer(std::move(question), answer, group));
  if (provider.upgrader)
    group.spawn(detail::give_up(detail::why_unreachable(provider, clock, doubts), unreachable, group));
  co_await group.join();
  if (answer && *answer) co_return std::move(*answer);
  if (answer) co_return std::unexpected(name_provider(provider.name, std::move(answer->error())));
  if (unreachable) co_return std::unexpected(name_provider(provider.name, std::move(*unreachable)));
  co_return kube::fail(kube::Errc::stopped, "the question to cluster " + provider.name + " was given up");
}

}  // namespace liqo::kubelet
