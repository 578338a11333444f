// liqoctl: what people and scripts use to peer clusters, to ask for resources, and to see what became of it.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <filesystem>

#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "kube/async/task_group.hpp"
#include "session/session.hpp"
#include "session/wait.hpp"

namespace {

using namespace liqoctl;

/// "kubectl liqo" where the program was found as a kubectl plugin, else its own name.
std::string program_name(const char* path) {
  std::string name = std::filesystem::path(path ? path : "liqoctl").filename().string();
  if (!name.starts_with("kubectl-")) return name;
  for (char& c : name) c = c == '-' ? ' ' : c == '_' ? '-' : c;
  return name;
}

/// What was made so far stays, and every command can be run again, so there is nothing to undo.
asio::awaitable<void> end_at_signal(asio::any_io_executor executor, Output& output) {
  asio::signal_set signals(executor, SIGINT, SIGTERM);
  co_await signals.async_wait(asio::use_awaitable);
  output.error("", "interrupted; what was done stays, and the same command goes on from there");
  std::_Exit(exit_code::interrupted);
}

asio::awaitable<int> run(Session& session, Run command) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  kube::async::TaskGroup group(executor);
  group.spawn(session.output().animate());
  group.spawn(end_at_signal(executor, session.output()));
  auto done = co_await command(session);
  session.output().clear();
  if (!done) session.output().error("", co_await line_of(session.clusters(), done.error()));
  co_await group.stop();
  co_await session.stop();
  co_return done ? exit_code::ok : exit_code::failed;
}

}  // namespace

int main(int argc, char** argv) try {
  CommandLine line(program_name(argc > 0 ? argv[0] : nullptr));
  add_commands(line);
  auto parsed = line.parse(argc, argv);
  if (!parsed.run) return parsed.code;

  asio::io_context io(1);
  Session session(io.get_executor(), line.flags());
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
  return liqoctl::exit_code::failed;
}
