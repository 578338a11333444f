#include "kube/client/pod_log.hpp"

#include "kube/client/read_failure.hpp"

namespace kube {

asio::awaitable<Result<PodLog>> open_pod_log(net::Transport& transport, async::Clock& clock, HttpRequest request,
                                             Deadline deadline) {
  KUBE_CO_TRY(response, co_await transport.send(std::move(request), deadline));
  if (response.head.status < 200 || response.head.status > 299)
    co_return std::unexpected(co_await read_failure(response, clock, deadline));
  co_return PodLog(std::move(response.body));
}

}  // namespace kube
