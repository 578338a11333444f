// Serves exec as a kubelet does: connects the caller's session to one at the provider, channel by channel.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "kube/client/remote_command.hpp"
#include "kube/net/http/http_server.hpp"
#include "kubelet/routes.hpp"
#include "kubelet/upgrade.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

/// The negotiated protocol: the headers of our 101, and the codec to use after it.
struct ExecUpgrade {
  kube::net::ServerResponse::Headers headers;
  std::function<std::unique_ptr<kube::wire::CommandCodec>(kube::wire::CommandStreams)> make_codec;
};
/// Reads the headers of an upgrade: SPDY/3.1 with v5 to v1, WebSocket with v5, v4 and the legacy protocols. Refusals:
/// 400 for requests that are no upgrade, 403 if no protocol is common.
std::expected<ExecUpgrade, UpgradeRefusal> read_exec_upgrade(const kube::net::ServerRequest& request);

/// Opens the session at the provider. Called after the caller has opened its streams.
using ConnectCommand = std::function<asio::awaitable<kube::Result<std::unique_ptr<kube::RemoteCommand>>>()>;

/// Limits of a caller's session: idle for up to 4 h, as with kubelets; pings notice a caller that is gone.
inline constexpr kube::CommandLimits exec_limits{
    .ping_every = std::chrono::seconds(30), .silence = {}, .idle = std::chrono::hours(4)};
/// The time for the caller's streams to be opened, and for those at the provider.
inline constexpr kube::Duration max_stream_creation = std::chrono::seconds(30);

/// A caller's session.
struct CommandCaller {
  std::unique_ptr<kube::net::ByteStream> stream;
  std::unique_ptr<kube::wire::CommandCodec> codec;  ///< the protocol of the session
  kube::wire::CommandStreams streams;               ///< that the caller opens
};

/// Serves one session to its end. Bytes are held back while a side does not read. The end of stdin, terminal sizes and
/// the provider's Status are passed on unchanged. If one side vanishes, the other is closed at once. Failures are
/// reported on the caller's error channel. Never fails; cancellation (terminal) closes both sides and is rethrown.
asio::awaitable<void> serve_exec(CommandCaller caller, ConnectCommand connect, kube::async::Clock& clock);

}  // namespace liqo::kubelet
