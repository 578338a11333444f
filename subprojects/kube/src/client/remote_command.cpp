#include "kube/client/remote_command.hpp"

#include <boost/asio/this_coro.hpp>
#include <ranges>

#include "kube/base/text.hpp"
#include "kube/base/url.hpp"
#include "upgrade_attempts.hpp"

namespace kube {
namespace {

using wire::CommandRole;
using wire::CommandVersion;

constexpr std::size_t max_result = 64 * 1024;

// A way to ask for the session; `accept` returns the codec to speak on the new stream.
struct Attempt {
  HttpRequest request;
  std::function<Result<std::unique_ptr<wire::CommandCodec>>(const net::ResponseHead&)> accept;
};

Attempt websocket_attempt(const RemoteCommandRequest& command, const std::vector<CommandVersion>& versions,
                          const std::function<std::uint32_t()>& entropy) {
  const std::string names =
      join(versions | std::views::transform([](CommandVersion version) { return to_string(version); }), ", ");
  Attempt attempt;
  attempt.request = to_request(command, "GET");
  const std::string key = ask_for_websocket(attempt.request, names, entropy);
  attempt.accept = [key, versions, entropy, streams = command.streams](
                       const net::ResponseHead& head) -> Result<std::unique_ptr<wire::CommandCodec>> {
    KUBE_TRYV(check_websocket_answer(head, key));
    const std::string_view chosen = head.header("sec-websocket-protocol");
    for (const CommandVersion version : versions) {
      if (to_string(version) != chosen) continue;
      return wire::make_websocket_command(CommandRole::client, {version, false}, streams, entropy);
    }
    return fail(Errc::protocol, "the server chose a WebSocket protocol that was not offered");
  };
  return attempt;
}

Attempt spdy_attempt(const RemoteCommandRequest& command) {
  Attempt attempt;
  attempt.request = to_request(command, "POST");
  auto& headers = attempt.request.headers;
  headers.emplace_back("upgrade", "SPDY/3.1");
  // One line per name: older kubelets read only the first of each line.
  headers.emplace_back("x-stream-protocol-version", to_string(CommandVersion::v5));
  headers.emplace_back("x-stream-protocol-version", to_string(CommandVersion::v4));
  attempt.accept = [streams =
                        command.streams](const net::ResponseHead& head) -> Result<std::unique_ptr<wire::CommandCodec>> {
    const auto version = wire::command_version(head.header("x-stream-protocol-version"));
    if (!version || !has_status(*version)) {
      return fail(Errc::unsupported, "the server chose an exec protocol that was not offered");
    }
    return wire::make_spdy_command(CommandRole::client, *version, streams);
  };
  return attempt;
}

}  // namespace

HttpRequest to_request(const RemoteCommandRequest& command, std::string_view method) {
  const std::string_view subresource = command.command.empty() ? "attach" : "exec";
  HttpRequest request;
  request.method = std::string(method);
  RequestTarget target(resources::pods.path(command.ns, command.pod) + "/" + std::string(subresource));
  for (const std::string& word : command.command) target.add("command", word);
  target.add_if("container", command.container);
  if (command.streams.in) target.add("stdin", "true");
  if (command.streams.out) target.add("stdout", "true");
  if (command.streams.err) target.add("stderr", "true");
  if (command.streams.tty) target.add("tty", "true");
  request.target = target.take();
  request.verb = method == "GET" ? "get" : "create";
  request.resource = resources::pods.plural;
  return request;
}

asio::awaitable<Result<void>> RemoteCommand::resize(wire::TerminalSize size) {
  const std::string text = wire::encode_resize(size);
  co_return co_await connection_->write(wire::CommandChannel::resize, text);
}

asio::awaitable<Result<std::string>> RemoteCommand::result() {
  std::string status;
  while (true) {
    auto piece = co_await connection_->read(wire::CommandChannel::error);
    if (!piece) {
      // A Status that arrived whole counts, however rudely the connection ended after it.
      if (wire::decode_result(connection_->version(), status) && !status.empty()) co_return status;
      co_return fail(std::move(piece.error()), "waiting for the result of the command");
    }
    if (piece->empty()) {
      if (status.empty() && has_status(connection_->version()))
        co_return fail(Errc::closed, "the server ended the session without the result of the command");
      co_return status;
    }
    if (piece->size() > max_result - status.size())
      co_return fail(Errc::too_large, "the result of the command is larger than 64 KiB");
    status += *piece;
  }
}

asio::awaitable<Result<std::unique_ptr<RemoteCommand>>> connect_remote_command(net::Upgrader& upgrader,
                                                                               async::Clock& clock,
                                                                               RemoteCommandRequest request,
                                                                               RemoteCommandOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  if (!options.entropy) options.entropy = entropy_of_the_system;
  std::vector<Attempt> attempts;
  if (request.streams.in) {
    attempts.push_back(websocket_attempt(request, {CommandVersion::v5}, options.entropy));
    attempts.push_back(spdy_attempt(request));
    attempts.push_back(websocket_attempt(request, {CommandVersion::v4}, options.entropy));
  } else {
    attempts.push_back(websocket_attempt(request, {CommandVersion::v5, CommandVersion::v4}, options.entropy));
    attempts.push_back(spdy_attempt(request));
  }
  std::vector<HttpRequest> requests;
  requests.reserve(attempts.size());
  for (Attempt& attempt : attempts) requests.push_back(std::move(attempt.request));
  KUBE_CO_TRY(granted, co_await ask_for_upgrade(upgrader, clock, std::move(requests), options.dial_timeout));
  auto codec = attempts[granted.attempt].accept(granted.head);
  if (!codec) {
    granted.stream->close();
    co_return std::unexpected(std::move(codec.error()));
  }
  auto connection = std::make_unique<CommandConnection>(executor, clock, std::move(granted.stream), std::move(*codec),
                                                        options.limits);
  co_return std::make_unique<RemoteCommand>(std::move(connection));
}

}  // namespace kube
