// Serves port-forward as a kubelet does: connects the caller's connection to one at the provider, stream by stream.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>

#include "kube/async/clock.hpp"
#include "kube/net/transport.hpp"
#include "kube/wire/port_forward_relay.hpp"
#include "kubelet/upgrade.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

/// Reads the headers of an upgrade to SPDY/3.1 with portforward.k8s.io: API servers request this from kubelets,
/// whichever protocol kubectl uses. Returns the headers of our 101. Refusals: 400 for other requests, 403 for other
/// protocols.
std::expected<kube::net::ServerResponse::Headers, UpgradeRefusal> read_port_forward_upgrade(
    const kube::net::ServerRequest& request);

/// Opens a connection to the provider that carries SPDY/3.1 with portforward.k8s.io.
using ConnectPortForward = std::function<asio::awaitable<kube::Result<std::unique_ptr<kube::net::ByteStream>>>()>;

/// The pod whose ports are forwarded.
struct ForwardedPod {
  std::string name;  ///< as in messages: "namespace/name"
  ConnectPortForward connect;
};

/// How long connections may be quiet. Zero durations: never.
struct PortForwardLimits {
  kube::Duration ping_caller = std::chrono::seconds(30);   ///< to notice one that is gone
  kube::Duration ping_provider = std::chrono::seconds(5);  ///< as Go's clients do
  kube::Duration silence = std::chrono::seconds(30);       ///< of an idle provider, until it counts as dead
  kube::Duration idle = std::chrono::hours(4);             ///< no data either way, as with kubelets
  /// The most bytes that wait for one peer, including those of a frame under way: the other peer's connection is read
  /// only while there is room for another 16 KiB. Two reads make a full frame with its header. SPDY has no other
  /// back-pressure, so a forward whose reader has stopped holds up the others of its connection.
  std::size_t max_buffer = 33 * std::size_t{1024};
  kube::wire::ForwardLimits forwards;
};

/// Serves one connection of a caller to its end. The connection to the provider is opened with the first forward, and
/// carries all of them. If one side ends or vanishes, the other is closed at once. Failures are reported on the error
/// streams. Never fails; cancellation (terminal) closes both sides and is rethrown.
asio::awaitable<void> serve_port_forward(std::unique_ptr<kube::net::ByteStream> stream, ForwardedPod pod,
                                         kube::async::Clock& clock, PortForwardLimits limits = {});

}  // namespace liqo::kubelet
