#include "session/run_command.hpp"

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "kube/async/task_group.hpp"
#include "session/wait.hpp"

namespace liqoctl {
namespace {

struct End {
  Result<void> done;
  std::optional<std::string> thrown = {};  ///< the text of the exception
};

/// An exception handler cannot await, so the exception is kept.
asio::awaitable<End> end_of(Session& session, Run command) {
  try {
    co_return End{.done = co_await command(session)};
  } catch (const std::exception& error) {
    co_return End{.done = {}, .thrown = error.what()};
  } catch (...) {
    co_return End{.done = {}, .thrown = "an exception that says nothing"};
  }
}

}  // namespace

asio::awaitable<int> run_command(Session& session, Run command) {
  kube::async::TaskGroup group(co_await asio::this_coro::executor);
  group.spawn(session.output().animate());
  const End end = co_await end_of(session, std::move(command));
  session.output().clear();
  if (end.thrown) session.output().error("", *end.thrown);
  if (!end.done) session.output().error("", co_await line_of(session.clusters(), end.done.error()));
  co_await group.stop();
  co_await session.stop();
  co_return end.done && !end.thrown ? exit_code::ok : exit_code::failed;
}

}  // namespace liqoctl
