// The limit that liqod is measured against: the minimum of offloading. For each pod that is bound to the node, it sends
// one POST of a Pod at the provider and one PATCH of the local pod's status. It has no cache and no queue, and 64 pods
// in flight.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <deque>
#include <unordered_set>

#include "kube/async/task_group.hpp"
#include "kube/client/api.hpp"
#include "kube/net/http/http_client.hpp"
#include "read_credentials.hpp"
#include "run_to_end.hpp"

namespace {

namespace asio = boost::asio;
namespace json = kube::json;
using kube::resources::pods;

constexpr std::size_t in_flight = 64;

struct Options {
  std::string home, provider;  ///< kubeconfig files
  std::string node;            ///< pods bound to this node of home ...
  std::string twin;            ///< ... run in this namespace of the provider
  std::size_t count = 0;       ///< ends after this many
};

/// The pod at the provider: the same containers, without what belongs to the consumer.
kube::Object forge_remote(const kube::Object& local, const std::string& twin) {
  kube::Object remote = kube::Object::make(pods, {twin, std::string(local.name())});
  json::array containers = kube::array_at(local.spec(), {"containers"});
  for (json::value& container : containers)
    if (auto* fields = container.if_object()) fields->erase("volumeMounts");
  remote.mutable_spec() = {{"containers", std::move(containers)}, {"automountServiceAccountToken", false}};
  return remote;
}

/// The status of a pod that runs, as a strategic merge patch.
std::string running_status(const kube::Object& local, kube::async::Clock& clock) {
  const std::string now = kube::format_time(clock.wall());
  json::array conditions, statuses;
  for (std::string_view type : {"Initialized", "ContainersReady", "Ready"})
    conditions.push_back({{"type", type}, {"status", "True"}, {"lastTransitionTime", now}});
  for (const json::value& container : kube::array_at(local.spec(), {"containers"}))
    statuses.push_back({{"name", kube::string_at(container, {"name"})},
                        {"image", kube::string_at(container, {"image"})},
                        {"imageID", ""},
                        {"ready", true},
                        {"restartCount", 0},
                        {"started", true},
                        {"state", {{"running", {{"startedAt", now}}}}}});
  return json::serialize(json::value{{"status",
                                      {{"phase", "Running"},
                                       {"hostIP", "192.0.2.1"},
                                       {"podIP", "192.0.2.2"},
                                       {"podIPs", {{{"ip", "192.0.2.2"}}}},
                                       {"startTime", now},
                                       {"conditions", std::move(conditions)},
                                       {"containerStatuses", std::move(statuses)}}}});
}

class BareClient {
 public:
  BareClient(const asio::any_io_executor& executor, const Options& options, kube::Api& home, kube::Api& provider)
      : options_(options), home_(home), provider_(provider), tasks_(executor) {}

  /// Runs until the last pod's writes are answered.
  asio::awaitable<kube::Result<void>> run() {
    auto taken = co_await take_pods();
    if (!taken) {
      co_await tasks_.stop();
      co_return taken;
    }
    co_await tasks_.join();
    if (failure_) co_return std::unexpected(std::move(*failure_));
    co_return kube::Result<void>();
  }

 private:
  /// Watches until the last pod has come. Watches again if the server ends the watch, as a busy one does at any time.
  asio::awaitable<kube::Result<void>> take_pods() {
    while (taken_.size() < options_.count) {
      kube::WatchOptions options{.selection = {.field_selector = "spec.nodeName=" + options_.node},
                                 .send_initial_events = true};
      KUBE_CO_TRY(stream, co_await home_.watch(pods, "", std::move(options)));
      KUBE_CO_TRYV(co_await read_pods(stream));
    }
    co_return kube::Result<void>();
  }

  /// A server ends a watch that is not read, so pods beyond those in flight are read too, and wait here.
  asio::awaitable<kube::Result<void>> read_pods(kube::WatchStream& stream) {
    while (taken_.size() < options_.count) {
      KUBE_CO_TRY(event, co_await stream.next());
      if (!event) break;
      kube::Object local(std::move(event->object));
      const bool is_new = event->type == kube::wire::WatchEventType::added && !local.uid().empty() &&
                          taken_.emplace(local.uid()).second;
      if (!is_new) continue;
      waiting_.push_back(std::move(local));
      if (busy_ == in_flight) continue;
      ++busy_;
      tasks_.spawn(offload_waiting());
    }
    co_return kube::Result<void>();
  }

  asio::awaitable<void> offload_waiting() {
    while (!waiting_.empty()) {
      kube::Object local = std::move(waiting_.front());
      waiting_.pop_front();
      auto created = co_await provider_.create(pods, forge_remote(local, options_.twin));
      if (!created && !failure_) failure_ = std::move(created.error());
      auto patched = co_await home_.patch(pods, local.key(),
                                          {kube::PatchType::strategic_merge, running_status(local, home_.clock())},
                                          {.subresource = "status"});
      if (!patched && !failure_) failure_ = std::move(patched.error());
    }
    --busy_;
  }

  const Options& options_;
  kube::Api& home_;
  kube::Api& provider_;
  kube::async::TaskGroup tasks_;
  std::size_t busy_ = 0;  ///< tasks that offload
  std::deque<kube::Object> waiting_;
  std::unordered_set<std::string> taken_;  ///< UIDs: a watch may repeat itself
  std::optional<kube::Failure> failure_;
};

asio::awaitable<kube::Result<void>> run(const Options& options) {
  auto executor = co_await asio::this_coro::executor;
  kube::async::RealClock clock;
  KUBE_CO_TRY(home_credentials, liqo::bench::read_credentials(options.home, clock));
  KUBE_CO_TRY(provider_credentials, liqo::bench::read_credentials(options.provider, clock));
  kube::Random random(1);
  kube::Metrics metrics;
  kube::net::HttpClient home_client(executor, clock, std::move(home_credentials));
  kube::net::HttpClient provider_client(executor, clock, std::move(provider_credentials));
  kube::Api home(home_client, clock, random, metrics, {.cluster = "home"});
  kube::Api provider(provider_client, clock, random, metrics, {.cluster = "provider"});
  BareClient client(executor, options, home, provider);
  auto ended = co_await client.run();
  co_await home_client.stop();
  co_await provider_client.stop();
  co_return ended;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Offloads pods with two writes each: the limit for liqod's rate");
  app.add_option("--home", options.home, "kubeconfig of the cluster whose pods are offloaded")->required();
  app.add_option("--provider", options.provider, "kubeconfig of the cluster where they run")->required();
  app.add_option("--node", options.node, "pods bound to this node of home are taken")->required();
  app.add_option("--twin", options.twin, "the provider's namespace that they run in")->required();
  app.add_option("--pods", options.count, "ends after so many")->required();
  CLI11_PARSE(app, argc, argv);

  asio::io_context io(1);
  return liqo::bench::run_to_end("bare_client", io, run(options));
}
