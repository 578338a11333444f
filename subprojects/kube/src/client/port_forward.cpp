#include "kube/client/port_forward.hpp"

#include <vector>

#include "kube/client/websocket_tunnel.hpp"
#include "kube/k8s/request.hpp"
#include "upgrade_attempts.hpp"

namespace kube {
namespace {

constexpr std::string_view protocol = "portforward.k8s.io";
constexpr std::string_view tunnel_protocol = "SPDY/3.1+portforward.k8s.io";

// Without ports: they are named by the streams. (Servers read `ports` for a WebSocket protocol of old.)
HttpRequest to_request(const PortForwardRequest& forward, std::string_view method) {
  HttpRequest request;
  request.method = std::string(method);
  request.target = resources::pods.path(forward.ns, forward.pod) + "/portforward";
  request.verb = method == "GET" ? "get" : "create";
  request.resource = resources::pods.plural;
  return request;
}

}  // namespace

asio::awaitable<Result<std::unique_ptr<net::ByteStream>>> connect_port_forward(net::Upgrader& upgrader,
                                                                               async::Clock& clock,
                                                                               PortForwardRequest request,
                                                                               PortForwardOptions options) {
  if (!options.entropy) options.entropy = entropy_of_the_system;
  std::vector<HttpRequest> attempts = {to_request(request, "GET"), to_request(request, "POST")};
  const std::string key = ask_for_websocket(attempts[0], tunnel_protocol, options.entropy);
  attempts[1].headers.emplace_back("upgrade", "SPDY/3.1");
  attempts[1].headers.emplace_back("x-stream-protocol-version", protocol);

  KUBE_CO_TRY(granted, co_await ask_for_upgrade(upgrader, clock, std::move(attempts), options.dial_timeout));
  const bool is_tunnel = granted.attempt == 0;
  const std::string_view chosen =
      granted.head.header(is_tunnel ? "sec-websocket-protocol" : "x-stream-protocol-version");
  auto answered = is_tunnel ? check_websocket_answer(granted.head, key) : Result<void>();
  if (answered && chosen != (is_tunnel ? tunnel_protocol : protocol)) {
    answered = fail(Errc::protocol, "the server chose a protocol of port-forward that was not offered");
  }
  if (!answered) {
    granted.stream->close();
    co_return std::unexpected(std::move(answered.error()));
  }
  if (!is_tunnel) co_return std::move(granted.stream);
  co_return std::make_unique<WebSocketTunnel>(std::move(granted.stream), options.entropy);
}

}  // namespace kube
