#include "kubelet/log_server.hpp"

#include "kubelet/ask_provider.hpp"
#include "kubelet/plain_text.hpp"

namespace liqo::kubelet {
namespace {

Refusal provider_refusal(const kube::Failure& failure) {
  const int code = failure.http_code();
  // An API server drops the message of a 404.
  if (code == 400 || code == 404) return {400, failure.text()};
  if (code == 500) return {code, failure.text()};
  return {502, "the provider cannot serve the request: " + failure.text()};
}

}  // namespace

asio::awaitable<std::expected<kube::PodLog, Refusal>> open_log(const Route& route, const PodRoute& pod,
                                                               kube::async::Clock& clock, kube::Duration timeout) {
  KUBE_CO_TRY(query, read_query(route.query));
  KUBE_CO_TRY(options, read_log_options(query));
  auto opening = kube::open_pod_log(*pod.transport, clock,
                                    kube::log_request({pod.remote_namespace, pod.remote_pod}, route.container, options),
                                    clock.deadline_in(timeout));
  auto log = co_await ask_provider({pod.provider, pod.upgrader}, clock, {}, std::move(opening));
  if (!log) co_return std::unexpected(provider_refusal(log.error()));
  co_return std::move(*log);
}

asio::awaitable<kube::Result<void>> serve_log(kube::PodLog log, kube::net::ServerResponse& response) {
  auto sent = co_await response.start(200, plain_text_headers());
  // The reader of a log may pause from time to time.
  response.be_patient();
  while (sent) {
    auto piece = co_await log.read();
    if (!piece) {
      response.abort();
      co_return std::unexpected(std::move(piece.error()));
    }
    if (piece->empty()) break;
    sent = co_await response.write(*piece);
  }
  co_return kube::Result<void>();
}

}  // namespace liqo::kubelet
