#include "connect.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iostream>
#include <memory>
#include <random>

#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/net/auth/exec_plugin.hpp"
#include "kube/net/auth/infer_config.hpp"

namespace example {
namespace {

asio::awaitable<void> work(asio::awaitable<kube::Result<void>> program, kube::Result<void>& ended,
                           kube::async::Event& over) {
  try {
    ended = co_await std::move(program);
  } catch (...) {
    // A program that a signal has cancelled has ended well.
    const std::exception_ptr thrown = std::current_exception();
    if (!kube::async::is_cancellation(thrown)) ended = kube::fail(kube::Errc::protocol, kube::async::describe(thrown));
  }
  over.set();
}

asio::awaitable<void> wait_for_signal(kube::async::Event& over) {
  asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
  co_await signals.async_wait(asio::use_awaitable);
  over.set();
}

/// The group owns the program, so that a signal can end it, and the client is stopped after it.
asio::awaitable<void> run_until_signal(asio::awaitable<kube::Result<void>> program, kube::net::HttpClient& client,
                                       kube::Result<void>& ended) {
  const auto executor = co_await asio::this_coro::executor;
  kube::async::TaskGroup group(executor);
  kube::async::Event over(executor);
  group.spawn(wait_for_signal(over));
  group.spawn(work(std::move(program), ended, over));
  co_await over.wait();
  co_await group.stop();
  co_await client.stop();
}

}  // namespace

int run(std::string_view name, const std::function<asio::awaitable<kube::Result<void>>(Cluster)>& program) {
  const auto fail = [name](const kube::Failure& failure) {
    std::cerr << name << ": " << failure.text() << "\n";
    return 1;
  };
  kube::async::RealClock clock;
  auto config = kube::net::infer_config();
  if (!config) return fail(config.error());
  // These programs are started by the user whose kubeconfig it is, so what that names may be run.
  auto plugin = std::make_unique<kube::net::ExecPluginRunner>(
      clock, kube::net::ExecPluginOptions{.terminal = isatty(STDIN_FILENO) != 0});
  auto credentials = kube::net::Credentials::make(*config, clock, std::move(plugin));
  if (!credentials) return fail(credentials.error());
  asio::io_context io(1);
  kube::Random random(std::random_device{}());
  kube::Metrics metrics;
  kube::net::HttpClient client(io.get_executor(), clock, *credentials);
  kube::Result<void> ended;
  std::exception_ptr thrown;
  auto task =
      program({.environment = {io.get_executor(), clock, random, metrics}, .client = client, .name = config->cluster});
  asio::co_spawn(io, run_until_signal(std::move(task), client, ended),
                 [&thrown](std::exception_ptr how) { thrown = std::move(how); });
  io.run();
  if (thrown) return fail({kube::Errc::protocol, kube::async::describe(thrown)});
  return ended ? 0 : fail(ended.error());
}

}  // namespace example
