// Port-forward as a kubelet serves it: joins the caller's connection with one at the provider, stream by stream.
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

/// Reads the headers of an upgrade: SPDY/3.1 with portforward.k8s.io, which is what API servers ask kubelets for,
/// whatever they speak with kubectl. Answers with the headers of our 101. Refusals: 400 for what is no such upgrade,
/// 403 for other protocols.
std::expected<kube::net::ServerResponse::Headers, UpgradeRefusal> read_port_forward_upgrade(
    const kube::net::ServerRequest& request);

/// Opens a connection to the provider that carries SPDY/3.1 with portforward.k8s.io.
using ConnectPortForward = std::function<asio::awaitable<kube::Result<std::unique_ptr<kube::net::ByteStream>>>()>;

/// The pod whose ports are forwarded.
struct ForwardedPod {
  std::string name;  ///< in messages: "namespace/name"
  ConnectPortForward connect;
};

/// How long connections may be quiet. Zero durations: never.
struct PortForwardLimits {
  kube::Duration ping_caller = std::chrono::seconds(30);   ///< so that one that is gone is noticed
  kube::Duration ping_provider = std::chrono::seconds(5);  ///< as Go's clients do
  kube::Duration silence = std::chrono::seconds(30);       ///< of a provider that is not busy, until it counts as dead
  kube::Duration idle = std::chrono::hours(4);             ///< no data either way, as with kubelets
  /// The most bytes that wait for one peer, with those of a frame on its way: the other peer's connection is read only
  /// while there is room for another 16 KiB. Two reads make a full frame with its head. SPDY has no other
  /// back-pressure, so a forward whose reader stands still holds up the others of its connection.
  std::size_t max_buffer = 33 * std::size_t{1024};
  kube::wire::ForwardLimits forwards;
};

/// Serves one connection of a caller to its end. The connection to the provider is opened with the first forward, and
/// carries all of them; a side that ends or vanishes ends the other at once. What goes wrong is told on the error
/// streams. Never fails; cancellation (terminal) closes both sides and is thrown on.
asio::awaitable<void> serve_port_forward(std::unique_ptr<kube::net::ByteStream> stream, ForwardedPod pod,
                                         kube::async::Clock& clock, PortForwardLimits limits = {});

}  // namespace liqo::kubelet
