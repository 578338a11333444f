// Ten thousand execs, ended in every way there is: nothing of them is left.
#include <doctest/doctest.h>
#include <malloc.h>

#include "fakes.hpp"
#include "kube/async/task_group.hpp"
#include "liqo/kubelet/exec_server.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
namespace wire = kube::wire;
namespace asio = boost::asio;
using Channel = wire::CommandChannel;
using kube::CommandConnection;
using kube::RemoteCommand;
using kube::async::TaskGroup;
using wire::CommandRole;

constexpr wire::CommandStreams streams{.in = true, .out = true, .err = true};

/// How an exec ends.
enum class End : std::uint8_t { by_itself, caller_vanishes, provider_vanishes, provider_refuses, is_cancelled };
constexpr std::size_t ends = 5;

std::uint32_t no_mask() { return 0; }

/// SPDY, or a WebSocket.
std::unique_ptr<wire::CommandCodec> make_codec(bool spdy, CommandRole role) {
  if (spdy) return wire::make_spdy_command(role, wire::CommandVersion::v4, streams);
  return wire::make_websocket_command(role, {wire::CommandVersion::v5, false}, streams, no_mask);
}

/// A caller, our server between, and a provider.
struct Exec {
  kube::testing::Simulator& simulator;
  kube::testing::VirtualClock& clock = simulator.clock();
  End end;
  kube::test::PipePair calling = kube::test::make_pipes(simulator.executor(), 4096);
  kube::test::PipePair providing = kube::test::make_pipes(simulator.executor(), 4096);
  CommandConnection caller, provider;
  std::unique_ptr<RemoteCommand> remote;
  std::unique_ptr<wire::CommandCodec> served;

  Exec(kube::testing::Simulator& on, std::size_t number)
      : simulator(on),
        end(static_cast<End>(number % ends)),
        caller(on.executor(), clock, std::move(calling.near), make_codec(number % 2 == 0, CommandRole::client)),
        provider(on.executor(), clock, std::move(providing.far), make_codec(number % 3 == 0, CommandRole::server)),
        remote(std::make_unique<RemoteCommand>(std::make_unique<CommandConnection>(
            on.executor(), clock, std::move(providing.near), make_codec(number % 3 == 0, CommandRole::client)))),
        served(make_codec(number % 2 == 0, CommandRole::server)) {}
};

asio::awaitable<std::string> read_all(CommandConnection& connection, Channel channel) {
  std::string all;
  for (;;) {
    auto piece = co_await connection.read(channel);
    if (!piece || piece->empty()) co_return all;
    all += *piece;
  }
}

asio::awaitable<kube::Result<std::unique_ptr<RemoteCommand>>> connect(Exec& exec) {
  if (exec.end != End::provider_refuses) co_return std::move(exec.remote);
  exec.provider.close();
  co_return kube::fail(kube::Errc::connect, "no way there");
}

asio::awaitable<void> serve(Exec& exec) {
  ConnectCommand connecting = [&exec] { return connect(exec); };
  co_await serve_exec(std::move(exec.calling.far), std::move(exec.served), streams, std::move(connecting), exec.clock);
  exec.remote.reset();
}

asio::awaitable<void> run_command(Exec& exec) {
  if (!co_await exec.provider.ready(exec.clock.deadline_in(1h))) co_return;
  if (!co_await exec.provider.write(Channel::out, "begun")) co_return;
  if (exec.end == End::provider_vanishes) {
    co_await exec.clock.sleep(1s);
    exec.providing.to_near->close();
    exec.providing.to_far->close();
  } else if (exec.end == End::by_itself) {
    const std::string input = co_await read_all(exec.provider, Channel::in);
    static_cast<void>(co_await exec.provider.write(Channel::out, input));
    static_cast<void>(co_await exec.provider.write(Channel::error, wire::encode_result({})));
    for (const auto channel : {Channel::out, Channel::err, Channel::error}) exec.provider.finish(channel);
    exec.provider.close();
  } else {
    // Without end: who ends it is somebody else.
    const std::string block(1000, 'x');
    while (co_await exec.provider.write(Channel::out, block)) {
    }
  }
}

/// What the caller does, and whether it has seen what it had to.
asio::awaitable<bool> call(Exec& exec, TaskGroup& serving) {
  if (!co_await exec.caller.ready(exec.clock.deadline_in(30s))) co_return false;
  if (exec.end == End::provider_refuses) {
    const std::string status = co_await read_all(exec.caller, Channel::error);
    co_return status.contains("no way there");
  }
  const auto begun = co_await exec.caller.read(Channel::out);
  if (!begun || !begun->starts_with("begun")) co_return false;
  switch (exec.end) {
    case End::caller_vanishes:
      exec.calling.to_far->close();
      exec.calling.to_near->close();
      co_return true;
    case End::is_cancelled:
      co_await serving.stop();
      co_return true;
    case End::provider_vanishes: {
      const std::string status = co_await read_all(exec.caller, Channel::error);
      co_return status.contains("Failure");
    }
    default: {
      if (!co_await exec.caller.write(Channel::in, "hello")) co_return false;
      exec.caller.finish(Channel::in);
      const std::string output = co_await read_all(exec.caller, Channel::out);
      const std::string status = co_await read_all(exec.caller, Channel::error);
      co_return output == "hello" && status.contains("Success");
    }
  }
}

using Pipes = std::vector<std::weak_ptr<kube::test::Pipe>>;

/// One exec from its begin until everybody has gone.
asio::awaitable<void> run_exec(kube::testing::Simulator& simulator, std::size_t number, Pipes& pipes,
                               std::size_t& good) {
  Exec exec(simulator, number);
  for (const auto* pair : {&exec.calling, &exec.providing})
    for (const auto& pipe : {pair->to_far, pair->to_near}) pipes.push_back(pipe);
  TaskGroup group(simulator.executor()), serving(simulator.executor());
  group.spawn(exec.caller.run());
  group.spawn(exec.provider.run());
  group.spawn(run_command(exec));
  serving.spawn(serve(exec));
  if (co_await call(exec, serving)) ++good;
  exec.caller.close();
  co_await serving.join();
  exec.provider.close();
  co_await group.join();
}

asio::awaitable<void> run_execs(kube::testing::Simulator& simulator, std::size_t count, Pipes& pipes,
                                std::size_t& good) {
  constexpr std::size_t at_once = 50;
  for (std::size_t number = 0; number < count;) {
    TaskGroup group(simulator.executor());
    for (std::size_t i = 0; i < at_once; ++i) group.spawn(run_exec(simulator, number++, pipes, good));
    co_await group.join();
  }
}

/// Runs so many, and answers how many bytes are allocated when they are over.
std::size_t live_heap_after(kube::testing::Simulator& simulator, std::size_t count) {
  Pipes pipes;
  std::size_t good = 0;
  simulator.run(run_execs(simulator, count, pipes, good), 24h * 365);
  CHECK(good == count);
  std::size_t left = 0;
  for (const auto& pipe : pipes) left += pipe.expired() ? 0 : 1;
  CHECK(left == 0);
  pipes = Pipes();
  return mallinfo2().uordblks;
}

}  // namespace

TEST_CASE("after ten thousand execs no task, no stream and no memory is left") {
  kube::testing::Simulator simulator{1};
  // What is made once and kept is there after the first ones, and so is what the allocator keeps for each thread.
  const std::size_t before = live_heap_after(simulator, 2'000);
  const std::size_t after = live_heap_after(simulator, 10'000);
  CAPTURE(before);
  CAPTURE(after);
  CHECK(after <= before + before / 100);
}
