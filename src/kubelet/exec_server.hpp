// Exec as a kubelet serves it: joins the caller's session with one at the provider, channel by channel.
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

/// How a caller wants to speak: the headers of our 101, and what to speak after it.
struct ExecUpgrade {
  kube::net::ServerResponse::Headers headers;
  std::function<std::unique_ptr<kube::wire::CommandCodec>(kube::wire::CommandStreams)> make_codec;
};
/// Reads the headers of an upgrade: SPDY/3.1 with v5 to v1, WebSocket with v5, v4 and the legacy protocols. Refusals:
/// 400 for requests that are no upgrade, 403 where no protocol is common.
std::expected<ExecUpgrade, UpgradeRefusal> read_exec_upgrade(const kube::net::ServerRequest& request);

/// Opens the session at the provider. Called once the caller has opened its streams.
using ConnectCommand = std::function<asio::awaitable<kube::Result<std::unique_ptr<kube::RemoteCommand>>>()>;

/// Limits of a caller's session: quiet for up to 4 h as with kubelets; pings, so that a caller that is gone is noticed.
inline constexpr kube::CommandLimits exec_limits{
    .ping_every = std::chrono::seconds(30), .silence = {}, .idle = std::chrono::hours(4)};
/// For the caller's streams to be opened, and for those at the provider.
inline constexpr kube::Duration max_stream_creation = std::chrono::seconds(30);

/// A caller's session.
struct CommandCaller {
  std::unique_ptr<kube::net::ByteStream> stream;
  std::unique_ptr<kube::wire::CommandCodec> codec;  ///< what is spoken on it
  kube::wire::CommandStreams streams;               ///< that the caller opens
};

/// Serves one session to its end. Bytes are held back where a side does not read; the end of stdin, terminal sizes and
/// the provider's Status go through as they are; a side that vanishes ends the other at once. Whatever goes wrong is
/// told on the caller's error channel. Never fails; cancellation (terminal) closes both sides and is thrown on.
asio::awaitable<void> serve_exec(CommandCaller caller, ConnectCommand connect, kube::async::Clock& clock);

}  // namespace liqo::kubelet
