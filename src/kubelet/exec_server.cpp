#include "liqo/kubelet/exec_server.hpp"

#include <array>
#include <boost/asio/this_coro.hpp>

#include "kube/async/task_group.hpp"
#include "kube/wire/websocket_codec.hpp"

namespace liqo::kubelet {
namespace {

using kube::CommandConnection;
using kube::RemoteCommand;
using kube::async::TaskGroup;
using kube::wire::CommandRole;
using kube::wire::CommandStreams;
using kube::wire::Negotiation;
using Channel = kube::wire::CommandChannel;

// What API servers and versions of kubectl, old ones too, may offer.
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
  // Without a protocol the oldest is spoken.
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
  auto spdy = read_spdy_upgrade(request, spdy_protocols);
  if (!spdy) return std::unexpected(std::move(spdy.error()));
  ExecUpgrade upgrade;
  upgrade.headers = std::move(spdy->headers);
  upgrade.make_codec = [version = *kube::wire::command_version(spdy->protocol)](CommandStreams streams) {
    return kube::wire::make_spdy_command(CommandRole::server, version, streams);
  };
  return upgrade;
}

// stdin of the caller, to the command, and its end.
asio::awaitable<void> carry_input(CommandConnection& local, RemoteCommand& remote) {
  for (;;) {
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
  for (;;) {
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

// One of the command's outputs, to the caller. Also drained when the caller takes no more, so that the result comes.
asio::awaitable<void> carry_output(CommandConnection& local, RemoteCommand& remote, Channel channel) {
  for (;;) {
    {
      auto piece = co_await remote.read(channel);
      if (!piece || piece->empty()) co_return;
      auto written = co_await local.write(channel, *piece);
      if (!written) remote.connection().discard(channel);
    }
    // What comes meanwhile waits in the provider's connection alone.
    co_await local.room();
  }
}

// The command's result, read while its outputs are: nobody would read them behind one that does not end.
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

// Carries everything until the command has ended; answers with the Status to report.
asio::awaitable<std::string> carry(CommandConnection& local, RemoteCommand& remote, CommandStreams streams,
                                   kube::async::Clock& clock) {
  auto ready = co_await remote.ready(clock.deadline_in(stream_creation_limit));
  if (!ready) co_return kube::wire::encode_failure(std::move(ready.error()).in("asking the provider"));
  const auto executor = co_await asio::this_coro::executor;
  TaskGroup inputs(executor, TaskGroup::OnFailure::keep_others);
  TaskGroup outputs(executor);
  std::exception_ptr interrupted;
  std::optional<kube::Result<std::string>> status;
  try {
    if (streams.in) inputs.spawn(carry_input(local, remote));
    if (streams.tty) inputs.spawn(carry_sizes(local, remote));
    for (const Channel channel : {Channel::out, Channel::err}) {
      if (streams.has(channel)) {
        outputs.spawn(carry_output(local, remote, channel));
      } else {
        remote.connection().discard(channel);
      }
    }
    outputs.spawn(carry_result(remote, status));
    co_await outputs.join();
  } catch (...) {
    interrupted = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await inputs.stop();
  co_await outputs.stop();
  if (interrupted) std::rethrow_exception(interrupted);
  if (!*status) co_return kube::wire::encode_failure(std::move(status->error()).in("asking the provider"));
  const auto result = kube::wire::decode_result(remote.connection().version(), **status);
  if (!result) co_return kube::wire::encode_failure(kube::Failure(result.error()).in("asking the provider"));
  co_return std::move(**status);
}

// The provider's side of the session, and the report of how it went.
asio::awaitable<void> run_remote(CommandConnection& local, CommandStreams streams, const ConnectCommand& connect,
                                 kube::async::Clock& clock) {
  auto remote = co_await connect();
  if (!remote) {
    co_await report(local, kube::wire::encode_failure(remote.error()));
    co_return;
  }
  const auto executor = co_await asio::this_coro::executor;
  TaskGroup connection(executor);
  std::exception_ptr interrupted;
  std::string status;
  try {
    connection.spawn((*remote)->run());
    status = co_await carry(local, **remote, streams, clock);
  } catch (...) {
    interrupted = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  if (interrupted) {
    co_await connection.stop();
    std::rethrow_exception(interrupted);
  }
  // The caller hears of the end before the provider is said goodbye to.
  co_await report(local, std::move(status));
  (*remote)->close();
  co_await connection.join();
}

}  // namespace

std::expected<ExecUpgrade, UpgradeRefusal> read_exec_upgrade(const kube::net::ServerRequest& request) {
  const auto wanted = wanted_upgrade(request);
  if (!wanted) return std::unexpected(wanted.error());
  if (wanted->contains("websocket")) return websocket_upgrade(request);
  if (wanted->contains("spdy/3.1")) return spdy_upgrade(request);
  return refuse_upgrade(400, "unable to upgrade: the request asks for neither SPDY/3.1 nor WebSocket");
}

asio::awaitable<void> serve_exec(CommandCaller caller, ConnectCommand connect, kube::async::Clock& clock) {
  const auto executor = co_await asio::this_coro::executor;
  const CommandStreams streams = caller.streams;
  CommandConnection local(executor, clock, std::move(caller.stream), std::move(caller.codec), exec_limits);
  if (!streams.in) local.discard(Channel::in);
  if (!streams.tty) local.discard(Channel::resize);
  TaskGroup connection(executor);
  TaskGroup work(executor);
  std::exception_ptr interrupted;
  try {
    connection.spawn(local.run());
    const auto ready = co_await local.ready(clock.deadline_in(stream_creation_limit));
    if (ready) {
      // Once the caller has gone, or has been told the result, there is nothing left to work for.
      work.spawn([](CommandConnection& connected, TaskGroup& others) -> asio::awaitable<void> {
        co_await connected.over();
        others.cancel();
      }(local, work));
      work.spawn(run_remote(local, streams, connect, clock));
      co_await work.join();
    }
  } catch (...) {
    interrupted = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await work.stop();
  if (interrupted) {
    co_await connection.stop();
    std::rethrow_exception(interrupted);
  }
  local.close();
  co_await connection.join();
}

}  // namespace liqo::kubelet
