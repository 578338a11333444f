// Decides on the ResourceSlices of one class: each gets what it asks for, as long as all of them fit into a pool.
//
//     pool --pool=cpu=8,memory=16Gi,pods=100 [--class=pool]
//
// It finds its cluster as kubectl does: by KUBECONFIG, by ~/.kube/config, or by the service account of its pod.
// rules.hpp has the rules; this file finds the slices and writes the answers.
#include <unistd.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iostream>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "kube/async/clock.hpp"
#include "kube/async/task_group.hpp"
#include "kube/async/vital.hpp"
#include "kube/base/printable.hpp"
#include "kube/net/auth/exec_plugin.hpp"
#include "kube/net/auth/infer_config.hpp"
#include "kube/net/http/http_client.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/manager.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/telemetry/log.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"
#include "rules.hpp"

namespace {

namespace asio = boost::asio;

/// Answers the slices of its class. Needs: list and watch of resourceslices, and patch of resourceslices/status.
class PoolController {
 public:
  PoolController(kube::Manager& manager, std::string slice_class, pool::Amounts amounts)
      : api_(manager.api()),
        class_(std::move(slice_class)),
        pool_(std::move(amounts)),
        // The label is on what consumers have sent, and not on slices with which this cluster asks others.
        slices_(
            manager.caches().acquire({.resource = liqo::api::kinds::resource_slices,
                                      .selection = {.label_selector = kube::label_is(liqo::api::labels::replicated)}})),
        controller_(manager.environment(), {.name = "pool", .ready = [this] { return slices_->has_synced(); }},
                    [this](const kube::WorkKey&) { return answer_all(); }) {
    // One key for all of them: what one slice gives back, another may get.
    slices_.subscribe([this](const kube::ObjectKey&) { controller_.enqueue({"", {"", "pool"}}); });
    manager.add([this] { return controller_.run(); });
  }

 private:
  asio::awaitable<kube::Outcome> answer_all() {
    std::vector<kube::Object> ours = slices_in_turn();
    std::optional<kube::Failure> failed;
    for (kube::Object& slice : ours) {
      // What is being deleted keeps its share until it is gone.
      if (slice.is_deleting()) continue;
      const pool::Answer answer = pool::decide(slice, ours, pool_);
      const auto status = pool::plan_status(slice, answer, api_.clock().wall());
      if (!status) continue;
      auto written = co_await kube::merge_patch(api_, *slices_, slice.key(),
                                                {.body = kube::json::serialize(*status),
                                                 .phase = "answering " + slice.key().text(),
                                                 .options = {.subresource = "status"}});
      // One that cannot be answered, or has changed meanwhile, holds up no other.
      if (!written) {
        failed = std::move(written.error());
      } else if (*written) {
        slice = std::move(**written);
        const std::string_view said = answer.accepted ? ": accepted: " : ": denied: ";
        std::cout << kube::printable(slice.key().text()) << said << kube::printable(answer.message) << std::endl;
      }
    }
    co_return failed ? kube::Outcome::retry(std::move(*failed)) : kube::Outcome::done();
  }

  /// The slices of this class; who asked first is first.
  std::vector<kube::Object> slices_in_turn() const {
    std::vector<kube::Object> ours;
    for (kube::Object& slice : slices_->objects())
      if (liqo::api::ResourceSlice(slice).slice_class() == class_) ours.push_back(std::move(slice));
    std::ranges::sort(ours, {},
                      [](const kube::Object& slice) { return std::pair(slice.creation_timestamp(), slice.uid()); });
    return ours;
  }

  kube::Api& api_;
  std::string class_;
  pool::Amounts pool_;
  kube::InformerHandle slices_;
  kube::Controller controller_;
};

asio::awaitable<void> wait_for_signal() {
  asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
  co_await signals.async_wait(asio::use_awaitable);
}

/// Throws that by which the manager ended, if it was no signal.
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

/// Nothing if they are not understood.
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
  PoolController controller(manager, flags->slice_class, std::move(*amounts));
  std::exception_ptr ended;
  asio::co_spawn(io, run_until_signal(manager, client), [&ended](std::exception_ptr how) { ended = std::move(how); });
  io.run();
  return ended ? fail(1, kube::async::describe(ended)) : 0;
}
