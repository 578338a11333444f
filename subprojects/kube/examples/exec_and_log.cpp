// Runs a command in a pod, prints what it says, and then the log of the pod: exec_and_log NAMESPACE POD COMMAND...
#include <iostream>

#include "connect.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/task_group.hpp"
#include "kube/client/pod_log.hpp"
#include "kube/client/remote_command.hpp"

namespace {

namespace asio = boost::asio;
using kube::wire::CommandChannel;

asio::awaitable<void> print(kube::RemoteCommand& command, CommandChannel channel) {
  std::ostream& out = channel == CommandChannel::err ? std::cerr : std::cout;
  while (true) {
    const auto piece = co_await command.read(channel);
    if (!piece || piece->empty()) co_return;
    out << *piece << std::flush;
  }
}

/// Waits until the command has ended and all that it says is printed.
asio::awaitable<kube::Result<void>> finish(kube::RemoteCommand& command, kube::async::TaskGroup& group) {
  const auto status = co_await command.result();
  co_await group.join();
  if (!status) co_return std::unexpected(status.error());
  KUBE_CO_TRY(result, kube::wire::decode_result(command.connection().version(), *status));
  if (result.kind != kube::wire::CommandResult::Kind::success) co_return kube::fail(kube::Errc::api, result.message);
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> execute(example::Cluster& cluster, kube::RemoteCommandRequest request) {
  KUBE_CO_TRY(command,
              co_await kube::connect_remote_command(cluster.client, cluster.environment.clock, std::move(request)));
  // Everything that runs has an owner, and the command outlives what reads of it.
  kube::async::TaskGroup group(cluster.environment.executor);
  group.spawn(command->run());
  group.spawn(print(*command, CommandChannel::out));
  group.spawn(print(*command, CommandChannel::err));
  // A cancellation, as by Ctrl-C, must not leave the group running.
  co_return co_await kube::async::finally(finish(*command, group), group.stop());
}

asio::awaitable<kube::Result<void>> show(example::Cluster cluster, kube::RemoteCommandRequest request) {
  const kube::ObjectKey pod{request.ns, request.pod};
  KUBE_CO_TRYV(co_await execute(cluster, std::move(request)));
  kube::async::Clock& clock = cluster.environment.clock;
  KUBE_CO_TRY(log, co_await kube::open_pod_log(cluster.client, clock, kube::log_request(pod, "", {.tail_lines = 20}),
                                               clock.deadline_in(std::chrono::seconds(30))));
  while (true) {
    KUBE_CO_TRY(piece, co_await log.read());
    if (piece.empty()) co_return kube::Result<void>();
    std::cout << piece << std::flush;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "exec_and_log NAMESPACE POD COMMAND...\n";
    return 2;
  }
  const kube::RemoteCommandRequest request{.ns = argv[1],
                                           .pod = argv[2],
                                           .container = {},
                                           .command = {argv + 3, argv + argc},
                                           .streams = {.in = false, .out = true, .err = true, .tty = false}};
  return example::run("exec_and_log", [&request](example::Cluster cluster) { return show(cluster, request); });
}
