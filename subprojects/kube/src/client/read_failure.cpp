#include "kube/client/read_failure.hpp"

#include <algorithm>

#include "kube/async/timeout.hpp"
#include "kube/k8s/status.hpp"

namespace kube {
namespace {

/// A Status that is cut cannot be parsed any more, and one may quote long values of the object that it refuses.
constexpr std::size_t max_body = 256 * 1024;
constexpr Duration max_wait = std::chrono::seconds(3);

}  // namespace

asio::awaitable<Failure> read_failure(net::Response& response, async::Clock& clock, Deadline deadline,
                                      std::shared_ptr<MemoryAccount> account) {
  deadline.at = std::min(deadline.at, clock.now() + max_wait);
  std::string body;
  while (body.size() < max_body) {
    auto piece = co_await async::with_deadline(clock, response.body->read(), deadline);
    if (!piece || !*piece || (*piece)->empty()) break;
    body += **piece;
  }
  co_return Failure::from_status(read_status(response.head.status, body, response.head.header("retry-after"), account));
}

}  // namespace kube
