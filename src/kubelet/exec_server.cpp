#include "kubelet/exec_server.hpp"

#include <array>
#include <boost/asio/this_coro.hpp>

#include "kube/async/finally.hpp"
#include "kube/wire/websocket_codec.hpp"

namespace liqo::kubelet {
namespace {

using kube::CommandConnection;
using kube::RemoteCommand;
using kube::async::finally;
using kube::async::stop_in_turn;
using kube::async::TaskGroup;
using kube::wire::CommandRole;
using kube::wire::CommandStreams;
using kube::wire::Negotiation;
using Channel = kube::wire::CommandChannel;

// The protocols that API servers and versions of kubectl, including old ones, may offer.
constexpr std::array<std::string_view, 5> spdy_protocols = {"v5.channel.k8s.io", "v4.channel.k8s.io",
                                                            "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"};
constexpr std::array<std::string_view, 5> websocket_protocols = {
    "v5.channel.k8s.io", "v4.channel.k8s.io", "v4.base64.channel.k8s.io", "base64.channel.k8s.io", "channel.k8s.io"};

std::expected<ExecUpgrade, UpgradeRefusal> websocket_upgrade(const kube::net::ServerRequest& request) {
  const std::string_view key = request.header("sec-websocket-key");
  if (request.method != "GET" || request.header("sec-websocket-version") != "13" ||
      !kube::wire::is_websocket_key(key)) {
    return refuse_upgrade(400, "unable to upgrade: this is no WebSocket handshake of version 13");
  }
  const auto offered = header_lines(request, "sec-websocket-protocol");
  const Negotiation negotiation = kube::wire::negotiate(offered, websocket_protocols);
  // Without a protocol the oldest one is used.
  if (negotiation.outcome == Negotiation::Outcome::nothing_common) return refuse_protocols(websocket_protocols);
  ExecUpgrade upgrade;
  upgrade.headers.emplace_back("upgrade", "websocket");
  upgrade.headers.emplace_back("sec-websocket-accept", kube::wire::websocket_accept(key));
  if (!negotiation.protocol.empty()) upgrade.headers.emplace_back("sec-websocket-protocol", negotiation.protocol);
  upgrade.make_codec = [protocol =
                            *kube::wire::websocket_command_protocol(negotiation.protocol)](CommandStreams streams) {
    return kube::wire::make_websocket_command(CommandRole::server, protocol, streams, {});
  };
  return upgrade;
}

std::expected<ExecUpgrade, UpgradeRefusal> spdy_upgrade(const kube::net::ServerRequest& request) {
  KUBE_TRY(spdy, read_spdy_upgrade(request, spdy_protocols));
  ExecUpgrade upgrade;
  upgrade.headers = std::move(spdy.headers);
  upgrade.make_codec = [version = *kube::wire::command_version(spdy.protocol)](CommandStreams streams) {
    return kube::wire::make_spdy_command(CommandRole::server, version, streams);
  };
  return upgrade;
}

// Passes on stdin of the caller to the command, and its end.
asio::awaitable<void> carry_input(CommandConnection& local, RemoteCommand& remote) {
  while (true) {
    {
      auto piece = co_await local.read(Channel::in);
      if (!piece) co_return;
      if (piece->empty()) break;
      auto written = co_await remote.write_stdin(*piece);
      if (!written) {
        // The command takes no more input; its output goes on.
        local.discard(Channel::in);
        co_return;
      }
    }
    co_await remote.connection().room();
  }
  remote.close_stdin();
}

asio::awaitable<void> carry_sizes(CommandConnection& local, RemoteCommand& remote) {
  kube::wire::ResizeDecoder decoder;
  while (true) {
    auto piece = co_await local.read(Channel::resize);
    if (!piece || piece->empty()) co_return;
    const auto sizes = decoder.feed(*piece);
    if (!sizes) {
      local.discard(Channel::resize);
      co_return;
    }
    for (const kube::wire::TerminalSize size : *sizes) {
      if (!co_await remote.resize(size)) co_return;
    }
  }
}

// Carries one of the command's outputs to the caller. The output is drained even when the caller takes no more, so that
// the result arrives.
asio::awaitable<void> carry_output(CommandConnection& local, RemoteCommand& remote, Channel channel) {
  while (true) {
    {
      auto piece = co_await remote.read(channel);
      if (!piece || piece->empty()) co_return;
      auto written = co_await local.write(channel, *piece);
      if (!written) remote.connection().discard(channel);
    }
    // Bytes that arrive meanwhile wait only in the provider's connection.
    co_await local.room();
  }
}

// Reads the command's result while its outputs are read: otherwise the outputs would not be read behind a result that
// does not end.
asio::awaitable<void> carry_result(RemoteCommand& remote, std::optional<kube::Result<std::string>>& status) {
  status = co_await remote.result();
  if (!*status && status->error().code() == kube::Errc::too_large) remote.close();
}

asio::awaitable<void> report(CommandConnection& local, std::string status) {
  const std::string text = kube::wire::translate_result(status, local.version());
  co_await local.write(Channel::error, text);
  for (const Channel channel : {Channel::out, Channel::err, Channel::error}) local.finish(channel);
  local.close();
}

/// A caller, and the objects that its session needs.
struct Session {
  CommandConnection& local;
  CommandStreams streams;
  kube::async::Clock& clock;
};

/// The relay between the two sides, with a task for each stream and direction.
struct Carriers {
  explicit Carriers(const asio::any_io_executor& executor)
      : inputs(executor, TaskGroup::OnFailure::keep_others), outputs(executor) {}
  TaskGroup inputs, outputs;
  std::optional<kube::Result<std::string>> status;  ///< the command's result
};

/// Carries everything until the command has ended.
asio::awaitable<void> carry_all(const Session& session, RemoteCommand& remote, Carriers& carriers) {
  auto ready = co_await remote.ready(session.clock.deadline_in(max_stream_creation));
  if (!ready) {
    carriers.status = std::unexpected(std::move(ready.error()));
    co_return;
  }
  CommandConnection& local = session.local;
  if (session.streams.in) carriers.inputs.spawn(carry_input(local, remote));
  if (session.streams.tty) carriers.inputs.spawn(carry_sizes(local, remote));
  for (const Channel channel : {Channel::out, Channel::err}) {
    if (session.streams.has(channel)) {
      carriers.outputs.spawn(carry_output(local, remote, channel));
    } else {
      remote.connection().discard(channel);
    }
  }
  carriers.outputs.spawn(carry_result(remote, carriers.status));
  co_await carriers.outputs.join();
}

/// Returns the Status to report.
asio::awaitable<std::string> carry(const Session& session, RemoteCommand& remote) {
  Carriers carriers(co_await asio::this_coro::executor);
  co_await finally(carry_all(session, remote, carriers), stop_in_turn(carriers.inputs, carriers.outputs));
  auto& status = *carriers.status;
  if (!status) co_return kube::wire::encode_failure(std::move(status.error()).in("asking the provider"));
  const auto result = kube::wire::decode_result(remote.connection().version(), *status);
  if (!result) co_return kube::wire::encode_failure(kube::Failure(result.error()).in("asking the provider"));
  co_return std::move(*status);
}

asio::awaitable<void> carry_and_report(const Session& session, RemoteCommand& remote, TaskGroup& connection) {
  connection.spawn(remote.run());
  std::string status = co_await carry(session, remote);
  // The caller is notified of the end before the connection to the provider is closed.
  co_await report(session.local, std::move(status));
  remote.close();
  co_await connection.join();
}

/// The provider's side of the session, and the report of its result.
asio::awaitable<void> run_remote(const Session& session, const ConnectCommand& connect) {
  auto remote = co_await connect();
  if (!remote) {
    co_await report(session.local, kube::wire::encode_failure(remote.error()));
    co_return;
  }
  TaskGroup connection(co_await asio::this_coro::executor);
  co_await finally(carry_and_report(session, **remote, connection), connection.stop());
}

/// Runs the command once the streams of the caller are open.
asio::awaitable<void> run_command(const Session& session, const ConnectCommand& connect, TaskGroup& work) {
  if (!co_await session.local.ready(session.clock.deadline_in(max_stream_creation))) co_return;
  // Once the caller is gone, or has the result, there is nothing left to do.
  work.spawn([](CommandConnection& connected, TaskGroup& others) -> asio::awaitable<void> {
    co_await connected.over();
    others.cancel();
  }(session.local, work));
  work.spawn(run_remote(session, connect));
  co_await work.join();
}

asio::awaitable<void> serve_caller(const Session& session, const ConnectCommand& connect, TaskGroup& connection) {
  connection.spawn(session.local.run());
  TaskGroup work(co_await asio::this_coro::executor);
  co_await finally(run_command(session, connect, work), work.stop());
  session.local.close();
  co_await connection.join();
}

}  // namespace

std::expected<ExecUpgrade, UpgradeRefusal> read_exec_upgrade(const kube::net::ServerRequest& request) {
  KUBE_TRY(wanted, wanted_upgrade(request));
  if (wanted.contains("websocket")) return websocket_upgrade(request);
  if (wanted.contains("spdy/3.1")) return spdy_upgrade(request);
  return refuse_upgrade(400, "unable to upgrade: the request asks for neither SPDY/3.1 nor WebSocket");
}

asio::awaitable<void> serve_exec(CommandCaller caller, ConnectCommand connect, kube::async::Clock& clock) {
  const auto executor = co_await asio::this_coro::executor;
  const CommandStreams streams = caller.streams;
  CommandConnection local(executor, clock, std::move(caller.stream), std::move(caller.codec), exec_limits);
  if (!streams.in) local.discard(Channel::in);
  if (!streams.tty) local.discard(Channel::resize);
  const Session session{local, streams, clock};
  TaskGroup connection(executor);
  co_await finally(serve_caller(session, connect, connection), connection.stop());
}

}  // namespace liqo::kubelet
