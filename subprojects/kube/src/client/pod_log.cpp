#include "kube/client/pod_log.hpp"

#include "kube/async/timeout.hpp"
#include "kube/k8s/status.hpp"

namespace kube {
namespace {

constexpr std::size_t max_words = 16 * 1024;
constexpr Duration max_wait = std::chrono::seconds(3);

}  // namespace

asio::awaitable<Failure> read_failure(net::Response& response, async::Clock& clock) {
  const Deadline deadline = clock.deadline_in(max_wait);
  std::string body;
  while (body.size() < max_words) {
    auto piece = co_await async::with_deadline(clock, response.body->read(), deadline);
    if (!piece || !*piece || (*piece)->empty()) break;
    body += **piece;
  }
  co_return Failure::from_status(read_status(response.head.status, body, response.head.header("retry-after")));
}

asio::awaitable<Result<PodLog>> open_pod_log(net::Transport& transport, async::Clock& clock, HttpRequest request,
                                             Deadline deadline) {
  auto response = co_await transport.send(std::move(request), deadline);
  if (!response) co_return std::unexpected(std::move(response.error()));
  if (response->head.status < 200 || response->head.status > 299)
    co_return std::unexpected(co_await read_failure(*response, clock));
  co_return PodLog(std::move(response->body));
}

}  // namespace kube
