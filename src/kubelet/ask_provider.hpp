// A question to a provider that may have fallen silent: kubectl hears of that within seconds, and of whom it is.
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

/// Whom a question is asked.
struct AskedProvider {
  std::string name;
  std::shared_ptr<kube::net::Upgrader> upgrader;  ///< null: whether it can be reached is not found out
};

/// How long an answer may take before a second connection shows whether the provider is there at all, and how long that
/// may take: together less than the five seconds after which people think that nothing happens.
struct Doubts {
  kube::Duration after = std::chrono::milliseconds(1500);
  kube::Duration max_look = std::chrono::milliseconds(2500);
};

/// Whether the failure shows that nothing answers; false where this side gave up.
inline bool is_out_of_reach(const kube::Failure& failure) {
  const kube::Errc code = failure.code();
  return code == kube::Errc::connect || code == kube::Errc::closed || code == kube::Errc::timeout ||
         code == kube::Errc::tls;
}

/// The failure of a question, with the provider's name where it was never answered.
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

/// Why the provider cannot be reached, after a while; nothing where it can. It looks by a connection of its own: the
/// one on which the question waits may be dead without anybody knowing.
asio::awaitable<std::optional<kube::Failure>> why_unreachable(AskedProvider provider, kube::async::Clock& clock,
                                                              Doubts doubts);

/// Ends the group where the provider cannot be reached.
asio::awaitable<void> give_up(asio::awaitable<std::optional<kube::Failure>> looking,
                              std::optional<kube::Failure>& unreachable, kube::async::TaskGroup& group);

}  // namespace detail

/// Awaits the answer to `question`, and gives it up where the provider turns out to be out of reach. An answer that
/// takes long while the provider is there is waited for: a log may have nothing to say.
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
