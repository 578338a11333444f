#include "kubelet/ask_provider.hpp"

#include "kube/async/timeout.hpp"
#include "kube/k8s/status.hpp"

namespace liqo::kubelet {

constexpr std::size_t error_body_limit = 16 * 1024;

asio::awaitable<kube::Failure> read_failure(kube::net::Response& response, kube::async::Clock& clock) {
  const kube::Deadline deadline = clock.deadline_in(words_limit);
  std::string body;
  while (body.size() < error_body_limit) {
    auto piece = co_await kube::async::with_deadline(clock, response.body->read(), deadline);
    if (!piece || !*piece || (*piece)->empty()) break;
    body += **piece;
  }
  co_return kube::Failure::from_status(
      kube::read_status(response.head.status, body, response.head.header("retry-after")));
}

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
