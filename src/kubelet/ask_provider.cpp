#include "kubelet/ask_provider.hpp"

namespace liqo::kubelet {

namespace detail {

asio::awaitable<std::optional<kube::Failure>> why_unreachable(AskedProvider provider, kube::async::Clock& clock,
                                                              Doubts doubts) {
  co_await clock.sleep(doubts.after);
  kube::HttpRequest request;
  request.target = "/version";
  request.verb = "get";
  // Any answer shows that the provider is reachable.
  const auto looked = co_await provider.upgrader->upgrade(std::move(request), clock.deadline_in(doubts.max_look));
  if (looked || !is_out_of_reach(looked.error())) co_return std::nullopt;
  co_return looked.error();
}

asio::awaitable<void> give_up(asio::awaitable<std::optional<kube::Failure>> looking,
                              std::optional<kube::Failure>& unreachable, kube::async::TaskGroup& group) {
  unreachable = co_await std::move(looking);
  if (unreachable) group.cancel();
}

}  // namespace detail
}  // namespace liqo::kubelet
