// Exec and attach at an API server, as its client.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/client/command_connection.hpp"
#include "kube/k8s/request.hpp"

namespace kube {

/// What to run, and where.
struct RemoteCommandRequest {
  std::string ns;
  std::string pod;
  std::string container;             ///< "" = the pod's only one
  std::vector<std::string> command;  ///< empty: attach to what runs already
  wire::CommandStreams streams;      ///< with tty there is no stderr
};

/// Method, path and query of that request, without the headers of a protocol. GET for WebSocket, POST for SPDY.
HttpRequest to_request(const RemoteCommandRequest& command, std::string_view method);

struct RemoteCommandOptions {
  CommandLimits limits;
  Duration dial_timeout = std::chrono::seconds(30);  ///< for each attempt at a protocol
  /// Unpredictable numbers, for WebSocket's keys and masks; by default those of the operating system.
  std::function<std::uint32_t()> entropy;
};

/// A command at a remote container. The rules are those of CommandConnection: spawn run(), use the channels, destroy it
/// only after run() has ended.
class RemoteCommand {
 public:
  explicit RemoteCommand(std::unique_ptr<CommandConnection> connection) : connection_(std::move(connection)) {}

  asio::awaitable<void> run() { return connection_->run(); }
  asio::awaitable<Result<void>> ready(Deadline deadline) { return connection_->ready(deadline); }
  /// What the command wrote to `out` or `err`; "" is the end.
  asio::awaitable<Result<std::string>> read(wire::CommandChannel channel) { return connection_->read(channel); }
  /// Errors: Errc::closed once the command takes no more input; the session goes on.
  asio::awaitable<Result<void>> write_stdin(std::string_view bytes) {
    return connection_->write(wire::CommandChannel::in, bytes);
  }
  /// Ends the command's input, if the protocol can (see connect_remote_command).
  void close_stdin() { connection_->finish(wire::CommandChannel::in); }
  asio::awaitable<Result<void>> resize(wire::TerminalSize size);
  /// The Status document that says how the command ended, as the server wrote it; "" is success if the protocol knows
  /// no Status. Waits for the end, so something must read or discard `out` and `err` meanwhile. Errors: Errc::closed if
  /// the session broke or ended without it, Errc::too_large if it has more than 64 KiB.
  asio::awaitable<Result<std::string>> result();
  /// Gives the command up. The server ends it, or at least its streams.
  void close() { connection_->close(); }
  CommandConnection& connection() { return *connection_; }

 private:
  std::unique_ptr<CommandConnection> connection_;
};

/// Opens a session by the first protocol that the server takes. WebSocket comes first: v5, and in the same request v4
/// if the command has no stdin, because v4 cannot signal its end. SPDY/3.1 comes next, which is a POST and so works for
/// roles with only `create` on pods/exec. For a command with stdin WebSocket v4 comes last. A refusal that no other
/// protocol would change (401, 404, 429) is final. If GETs are refused and SPDY is not, SPDY is tried first for an
/// hour. Errors: the server's Status (Errc::api), that of SPDY if all are refused, connect, tls, timeout, protocol. The
/// session's run() is not started yet.
asio::awaitable<Result<std::unique_ptr<RemoteCommand>>> connect_remote_command(net::Upgrader& upgrader,
                                                                               async::Clock& clock,
                                                                               RemoteCommandRequest request,
                                                                               RemoteCommandOptions options = {});

}  // namespace kube
