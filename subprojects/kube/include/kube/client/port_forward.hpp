// Port-forward at an API server, as its client: the connection, and who is at its other end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kube/async/clock.hpp"
#include "kube/net/transport.hpp"

namespace kube {

namespace asio = boost::asio;

/// The pod whose ports are forwarded.
struct PortForwardRequest {
  std::string ns;
  std::string pod;
};

struct PortForwardOptions {
  /// For each attempt at a protocol: both together are less than the 30 s that callers wait for a stream.
  Duration dial_timeout = std::chrono::seconds(10);
  /// Unpredictable numbers, for WebSocket's keys and masks; by default those of the operating system.
  std::function<std::uint32_t()> entropy;
};

/// Opens a connection that carries SPDY/3.1 with `portforward.k8s.io`, as the client. If the server takes that, it runs
/// in a WebSocket (`SPDY/3.1+portforward.k8s.io`). Otherwise it runs as it is, which is a POST and so works for roles
/// with only `create`. Which of them is asked for first, and the errors, are as in connect_remote_command.
asio::awaitable<Result<std::unique_ptr<net::ByteStream>>> connect_port_forward(net::Upgrader& upgrader,
                                                                               async::Clock& clock,
                                                                               PortForwardRequest request,
                                                                               PortForwardOptions options = {});

}  // namespace kube
