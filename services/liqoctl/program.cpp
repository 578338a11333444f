// liqoctl: the command line by which people and scripts peer clusters, ask for resources, and see their state.
#include "program.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <filesystem>
#include <random>

#include "command_line/command_line.hpp"
#include "command_line/standard_streams.hpp"
#include "commands/commands.hpp"
#include "kube/async/task_group.hpp"
#include "session/http_connection.hpp"
#include "session/run_command.hpp"

namespace liqoctl {
namespace {

/// "kubectl liqo" if the program was found as a kubectl plugin, else its own name.
std::string program_name(const char* path) {
  std::string name = std::filesystem::path(path ? path : "liqoctl").filename().string();
  if (!name.starts_with("kubectl-")) return name;
  for (char& c : name) c = c == '-' ? ' ' : c == '_' ? '-' : c;
  return name;
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

/// Ends at a signal. Objects that were created stay, and every command can be run again, so there is nothing to undo.
asio::awaitable<void> end_at_signal(asio::any_io_executor executor, Output& output) {
  asio::signal_set signals(executor, SIGINT, SIGTERM);
  co_await signals.async_wait(asio::use_awaitable);
  output.error("", "interrupted; what was done stays, and the same command goes on from there");
  std::_Exit(exit_code::interrupted);
}

asio::awaitable<int> run(Session& session, Run command) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  kube::async::TaskGroup group(executor);
  group.spawn(end_at_signal(executor, session.output()));
  const int code = co_await run_command(session, std::move(command));
  co_await group.stop();
  co_return code;
}

}  // namespace

int run_program(int argc, char** argv) try {
  StandardStreams streams;
  CommandLine line(program_name(argc > 0 ? argv[0] : nullptr), streams);
  add_commands(line);
  auto parsed = line.parse(argc, argv);
  if (!parsed.run) return parsed.code;

  asio::io_context io(1);
  kube::async::RealClock clock;
  Session session({.clock = clock,
                   .terminal = streams,
                   .connect = connect_over_http(io.get_executor(), clock),
                   .seed = random_seed()},
                  line.flags());
  int code = exit_code::failed;
  std::exception_ptr thrown;
  asio::co_spawn(io, run(session, std::move(parsed.run)), [&](std::exception_ptr exception, int result) {
    thrown = std::move(exception);
    code = result;
  });
  io.run();
  if (thrown) std::rethrow_exception(thrown);
  return code;
} catch (const std::exception& error) {
  std::fprintf(stderr, "liqoctl: %s\n", error.what());
  return exit_code::failed;
}

}  // namespace liqoctl
