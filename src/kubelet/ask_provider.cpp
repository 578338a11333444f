#include "kubelet/ask_provider.hpp"

namespace liqo::kubelet {

namespace detail {

asio::awaitable<void> doubt(AskedProvider provider, kube::async::Clock& clock, Doubts doubts,
                            std::optional<kube::Failure>& unreachable, kube::async::TaskGroup& group) {
  co_await clock.sleep(doubts.after);
  kube::HttpRequest request;
  request.target = "/version";
  request.verb = "get";
  // Whatever it answers, it is there.
  const auto looked = co_await provider.upgrader->upgrade(std::move(request), clock.deadline_in(doubts.limit));
  if (looked || !is_out_of_reach(looked.error())) co_return;
  unreachable = looked.error();
  group.cancel();
}

}  // namespace detail
}  // namespace liqo::kubelet
