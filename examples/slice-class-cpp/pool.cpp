// Decides on the ResourceSlices of one class: each gets what it requests, as long as all of them fit into a pool.
//
//     pool --pool=cpu=8,memory=16Gi,pods=100 [--class=pool]
//
// It finds its cluster as kubectl does: by KUBECONFIG, by ~/.kube/config, or by the service account of its pod.
// rules.hpp has the rules; pool_controller.hpp finds the slices and writes the answers.
#include <unistd.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iostream>
#include <memory>
#include <random>
#include <span>

#include "kube/async/clock.hpp"
#include "kube/async/task_group.hpp"
#include "kube/async/vital.hpp"
#include "kube/net/auth/exec_plugin.hpp"
#include "kube/net/auth/infer_config.hpp"
#include "kube/net/http/http_client.hpp"
#include "kube/runtime/manager.hpp"
#include "kube/telemetry/log.hpp"
#include "pool_controller.hpp"

namespace {

namespace asio = boost::asio;

asio::awaitable<void> wait_for_signal() {
  asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
  co_await signals.async_wait(asio::use_awaitable);
}

/// Throws the failure that ended the manager, unless a signal did.
asio::awaitable<void> run_until_signal(kube::Manager& manager, kube::net::HttpClient& client) {
  const auto executor = co_await asio::this_coro::executor;
  kube::async::TaskGroup work(executor), signal(executor);
  std::exception_ptr lost;
  signal.spawn(wait_for_signal());
  work.spawn(kube::async::vital(manager.run(), signal, lost));
  co_await signal.join();
  co_await work.stop();
  co_await client.stop();
  if (lost) std::rethrow_exception(lost);
}

struct Flags {
  std::string slice_class = "pool", pool;
};

/// No value if they are not understood.
std::optional<Flags> read_flags(std::span<char*> arguments) {
  Flags flags;
  for (const std::string_view argument : arguments) {
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    if (equals == std::string_view::npos || (name != "--class" && name != "--pool")) return std::nullopt;
    (name == "--class" ? flags.slice_class : flags.pool) = argument.substr(equals + 1);
  }
  return flags;
}

int fail(int code, std::string_view text) {
  std::cerr << "pool: " << text << "\n";
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const auto flags = read_flags({argv + 1, argv + argc});
  if (!flags) return fail(2, "usage: pool --pool=cpu=8,memory=16Gi,pods=100 [--class=pool]");
  auto amounts = pool::read_pool(flags->pool);
  if (!amounts) return fail(2, "--pool: " + amounts.error().text());

  kube::configure_logging(kube::LogLevel::warn, kube::LogFormat::text);
  kube::async::RealClock clock;
  const auto config = kube::net::infer_config();
  if (!config) return fail(1, config.error().text());
  auto plugin = std::make_unique<kube::net::ExecPluginRunner>(
      clock, kube::net::ExecPluginOptions{.terminal = isatty(STDIN_FILENO) != 0});
  auto credentials = kube::net::Credentials::make(*config, clock, std::move(plugin));
  if (!credentials) return fail(1, credentials.error().text());

  asio::io_context io(1);
  kube::Random random(std::random_device{}());
  kube::Metrics metrics;
  kube::net::HttpClient client(io.get_executor(), clock, *credentials);
  kube::Manager manager({io.get_executor(), clock, random, metrics}, client,
                        {.cluster = config->cluster, .source = {}});
  pool::PoolController controller(manager, flags->slice_class, std::move(*amounts), std::cout);
  std::exception_ptr ended;
  asio::co_spawn(io, run_until_signal(manager, client), [&ended](std::exception_ptr how) { ended = std::move(how); });
  io.run();
  return ended ? fail(1, kube::async::describe(ended)) : 0;
}
