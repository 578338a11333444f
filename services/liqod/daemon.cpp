#include "daemon.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>

#include "controllers/process/process.hpp"
#include "core/common/late_requests.hpp"
#include "core/common/peer_names.hpp"
#include "core/nodes/node.hpp"
#include "health.hpp"
#include "kube/async/event.hpp"
#include "kube/base/scalar.hpp"
#include "kube/net/auth/infer_config.hpp"
#include "kube/net/http/http_client.hpp"
#include "kube/net/http/http_server.hpp"
#include "kubelet_api.hpp"
#include "memory_limit.hpp"
#include "metric_agent.hpp"
#include "metrics/client_gauges.hpp"
#include "metrics/metrics_port.hpp"
#include "metrics/process_metrics.hpp"
#include "metrics/server_metrics.hpp"
#include "metrics/turn_meter.hpp"
#include "name_look_up.hpp"
#include "provider_link.hpp"
#include "telemetry/families.hpp"
#include "webhooks.hpp"

namespace liqod {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using liqo::controllers::Process;

/// A reconcile that is running gets 10 s to end; the whole process gets this long.
constexpr kube::Duration stop_grace = 20s;
/// Prometheus waits ten seconds for a scrape by default, and the reviews of a scrape have to be over by then.
constexpr kube::Duration max_review = 8s;
constexpr rlim_t max_files = 16'384;

kube::Result<kube::wire::ClusterConfig> read_home_config(const Options& options) {
  if (!options.kubeconfig.empty())
    return kube::net::read_kubeconfig(options.kubeconfig, {.context = options.context, .cluster = {}, .user = {}});
  auto pod = kube::net::pod_config();
  if (!pod) return kube::fail(pod.error().code(), pod.error().text() + ", so --kubeconfig is needed");
  return pod;
}

/// Sets the address and CA of this cluster's API server, which consumers are given, if the options do not.
kube::Result<void> complete_settings(Options& options, const kube::wire::ClusterConfig& home) {
  auto& settings = options.settings;
  if (!options.kubeconfig.empty() && home.server.tls) settings.peering.api_server_fallback = home.server.text();
  if (!settings.peering.ca_pem.empty() || options.trusted_ca) return {};
  KUBE_TRY(authorities, kube::net::read_authorities(home));
  settings.peering.ca_pem = std::move(authorities);
  return {};
}

/// Raises the limit of open files. Unknown callers may fill the ports that this process serves, and its own connections
/// need descriptors besides. Many machines give a process 1,024 unless it asks for more.
void allow_many_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= max_files) return;
  files.rlim_cur = std::min(files.rlim_max, max_files);
  setrlimit(RLIMIT_NOFILE, &files);
}

/// Splits "host:port". The host may be in brackets.
kube::Result<kube::net::HttpServerOptions> listen_at(const std::string& flag, const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : kube::read_number<std::uint16_t>(std::string_view(address).substr(colon + 1));
  if (!port) return kube::fail(kube::Errc::invalid_input, flag + " is not host:port: " + address);
  kube::net::HttpServerOptions options;
  options.port = *port;
  options.address = address.substr(0, colon);
  if (options.address.size() > 2 && options.address.front() == '[')
    options.address = options.address.substr(1, options.address.size() - 2);
  return options;
}

/// Everything that lives as long as the process.
class Daemon {
 public:
  Daemon(const asio::any_io_executor& executor, const Options& options, kube::Metrics& metrics,
         std::shared_ptr<kube::net::Credentials> credentials)
      : executor_(executor),
        credentials_(credentials),
        options_(options),
        random_(std::random_device{}()),
        metrics_(metrics),
        process_metrics_(metrics),
        kubelet_metrics_(metrics, "kubelet"),
        webhook_metrics_(metrics, "webhook"),
        metric_agent_metrics_(metrics, "metric-agent"),
        metrics_metrics_(metrics, "metrics"),
        health_metrics_(metrics, "health"),
        home_(executor, clock_, std::move(credentials), {.user_agent = "liqod/" LIQOD_VERSION}),
        home_gauges_(metrics, options.settings.cluster_id, home_),
        reviews_(home_, clock_, random_, metrics_, {.cluster = options.settings.cluster_id, .timeout = max_review}),
        stop_(executor) {}

  /// Runs until a signal. Failures are those of the start, e.g. a port that is taken.
  asio::awaitable<kube::Result<void>> run();

 private:
  std::string waiting_for() const;
  void refresh_metrics(const MetricsPort& port, const kube::net::HttpServer& health);
  asio::awaitable<void> serve_cluster(kube::async::TaskGroup& group);
  asio::awaitable<void> wait_for_signal();
  asio::awaitable<void> give_up_stopping();
  /// Runs a part of the process. An exception that ends the part ends the process too, which would otherwise keep its
  /// lease and do nothing.
  asio::awaitable<void> end_with(std::string part, asio::awaitable<void> running);
  /// Makes run() end and return this failure.
  void end_by(kube::Failure failure) {
    failure_ = std::move(failure);
    stop_.set();
  }
  asio::awaitable<std::string> read_server_version(kube::Api& api);
  /// Fails if peers know the cluster by another ID than that of the options.
  asio::awaitable<kube::Result<void>> check_cluster_id(kube::Api& api);
  /// The pause between two requests to a cluster that does not answer yet.
  asio::awaitable<void> await_cluster(const kube::Failure& failure);

  asio::any_io_executor executor_;
  std::shared_ptr<kube::net::Credentials> credentials_;  ///< by which the cluster at home knows us
  const Options& options_;
  kube::async::RealClock clock_;
  kube::Random random_;
  kube::Metrics& metrics_;
  kube::Environment environment_{executor_, clock_, random_, metrics_};
  ProcessMetrics process_metrics_;
  ServerMetrics kubelet_metrics_, webhook_metrics_, metric_agent_metrics_, metrics_metrics_, health_metrics_;
  kube::net::HttpClient home_;
  ClientGauges home_gauges_;
  kube::Api reviews_;  ///< asks who may read the metrics, which are served before anything else
  std::unique_ptr<Process> process_;
  std::unique_ptr<liqo::kubelet::Kubelet> kubelet_;
  Webhooks webhooks_;
  MetricAgent metric_agent_;
  kube::async::Event stop_;
  bool logged_silent_ = false;            ///< it was logged that the cluster does not answer yet
  std::optional<kube::Failure> failure_;  ///< the failure that ends the process
  kube::Log log_{"liqod"};
};

asio::awaitable<void> Daemon::wait_for_signal() {
  asio::signal_set signals(executor_, SIGTERM, SIGINT);
  const int signal = co_await signals.async_wait(asio::use_awaitable);
  log_.info("stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
  stop_.set();
}

asio::awaitable<void> Daemon::give_up_stopping() {
  co_await clock_.sleep(stop_grace);
  log_.error("did not stop in time");
  // A coroutine that does not end may still use what would be destroyed.
  std::_Exit(1);
}

asio::awaitable<void> Daemon::end_with(std::string part, asio::awaitable<void> running) {
  try {
    co_await std::move(running);
  } catch (...) {
    const auto thrown = std::current_exception();
    if (kube::async::is_cancellation(thrown)) throw;
    const kube::Failure failure(kube::Errc::stopped,
                                part + " has ended by an exception: " + kube::async::describe(thrown));
    log_.error("stopping, because a part of this process is lost", {{"error", failure}});
    end_by(failure);
  }
}

asio::awaitable<void> Daemon::await_cluster(const kube::Failure& failure) {
  if (!std::exchange(logged_silent_, true)) log_.warn("the cluster does not answer yet", {{"error", failure}});
  co_await clock_.sleep(1s);
}

asio::awaitable<std::string> Daemon::read_server_version(kube::Api& api) {
  while (true) {
    auto answer = co_await api.raw("/version", 10s);
    if (answer) co_return liqo::core::server_version(*answer);
    co_await await_cluster(answer.error());
  }
}

asio::awaitable<kube::Result<void>> Daemon::check_cluster_id(kube::Api& api) {
  const kube::ObjectKey key{options_.settings.liqo_namespace, std::string(liqo::core::cluster_id_config_map)};
  while (true) {
    const auto found = co_await api.get(kube::resources::config_maps, key);
    // If liqod may not read the ConfigMap yet, it goes on. Its later reads log that again and again.
    if (!found && found.error().is_permanent()) co_return kube::Result<void>();
    if (found) {
      const std::string_view id = kube::string_at(found->tree(), {"data", liqo::core::cluster_id_key});
      if (id.empty() || id == options_.settings.cluster_id) co_return kube::Result<void>();
      co_return kube::fail(kube::Errc::invalid_input, "this cluster is installed as " + std::string(id) +
                                                          ", by which its peers know it (ConfigMap " + key.text() +
                                                          "), not as " + options_.settings.cluster_id +
                                                          ": take the ID that it has (--cluster-id, in the chart "
                                                          "clusterID), or remove Liqo before it gets another one");
    }
    co_await await_cluster(found.error());
  }
}

std::string Daemon::waiting_for() const {
  if (stop_.is_set()) return "it is stopping";
  if (!process_) return "cluster " + options_.settings.cluster_id + " has not answered yet";
  if (std::string waiting = process_->waiting_for(); !waiting.empty()) return waiting;
  if (webhooks_.webhook)
    if (std::string waiting = webhooks_.webhook->waiting_for(); !waiting.empty()) return waiting;
  return metric_agent_.agent ? metric_agent_.agent->waiting_for() : "";
}

void Daemon::refresh_metrics(const MetricsPort& port, const kube::net::HttpServer& health) {
  process_metrics_.refresh();
  metrics_metrics_.show(port.counters());
  health_metrics_.show(health.counters());
  if (kubelet_) kubelet_metrics_.show(kubelet_->counters());
  if (webhooks_.webhook) webhook_metrics_.show(webhooks_.webhook->counters());
  if (metric_agent_.agent) metric_agent_metrics_.show(metric_agent_.agent->counters());
}

asio::awaitable<void> Daemon::serve_cluster(kube::async::TaskGroup& group) {
  auto settings = options_.settings;
  kube::Api api(home_, clock_, random_, metrics_, {.cluster = settings.cluster_id});
  settings.nodes.kubelet_version = co_await read_server_version(api);
  if (auto checked = co_await check_cluster_id(api); !checked) co_return end_by(std::move(checked.error()));
  if (options_.home_names) settings.namespaces.look_up_name = make_name_look_up();
  std::optional<kube::LeaderElectionSettings> election;
  // Without webhooks no review reaches the ledger, and Quotas have no effect.
  std::optional<liqo::quota::LedgerSettings> ledger;
  if (options_.webhook_port != 0 && settings.offloading.enforce_resources) ledger = options_.ledger;
  if (options_.leader_elect)
    election = {.lease = {settings.liqo_namespace, "liqod"},
                .identity = options_.identity,
                .late_requests = liqo::core::late_after};
  process_ = std::make_unique<Process>(liqo::controllers::ProcessContext{.environment = environment_,
                                                                         .home = home_,
                                                                         .connect = connect_over_network(environment_),
                                                                         .settings = settings,
                                                                         .election = std::move(election),
                                                                         .ledger = ledger});
  kubelet_ = make_kubelet(*process_, options_);
  if (auto port = kubelet_->listen(); !port) co_return end_by(std::move(port.error()));
  webhooks_ = make_webhooks(*process_, options_);
  if (webhooks_.webhook) {
    if (auto port = webhooks_.webhook->listen(); !port) co_return end_by(std::move(port.error()));
    if (webhooks_.display) group.spawn(end_with("the display of quotas", webhooks_.display->run()));
    group.spawn(end_with("the webhook", webhooks_.webhook->run()));
  }
  metric_agent_ = make_metric_agent(*process_, credentials_->config(), options_);
  if (metric_agent_.agent) {
    if (auto port = metric_agent_.agent->listen(); !port) co_return end_by(std::move(port.error()));
    group.spawn(end_with("the metric agent", metric_agent_.agent->run()));
  }
  group.spawn(end_with("the kubelet API", kubelet_->run()));
  log_.info(
      "serving",
      {{"cluster", settings.cluster_id}, {"kubernetes", settings.nodes.kubelet_version}, {"version", LIQOD_VERSION}});
  co_await process_->run();
}

asio::awaitable<kube::Result<void>> Daemon::run() {
  KUBE_CO_TRY(health_options, listen_at("--health-probe-address", options_.health_address));
  health_options.max_connections = 64;
  health_options.max_body = 16U << 10;
  health_options.max_held = 1U << 20;
  kube::net::HttpServer health(executor_, clock_, std::move(health_options),
                               serve_health([this] { return waiting_for(); }, options_.peer_names));
  KUBE_CO_TRYV(health.listen(), "health probe address " + options_.health_address);
  KUBE_CO_TRY(address, listen_at("--metrics-address", options_.metrics_address));
  MetricsPort metrics(environment_, reviews_, [this, &metrics, &health] { refresh_metrics(metrics, health); },
                      {.address = address.address,
                       .port = address.port,
                       .secure = options_.metrics_secure,
                       .certificate_path = options_.metrics_certificate_path,
                       .node_ip = options_.settings.nodes.node_ip,
                       .ns = options_.settings.liqo_namespace,
                       .names = options_.peer_names});
  KUBE_CO_TRYV(metrics.listen(), "metrics address " + options_.metrics_address);

  // The servers of metrics and health stop last, the controllers first.
  kube::async::TaskGroup servers(executor_);
  kube::async::TaskGroup cluster(executor_);
  servers.spawn(end_with("the health server", health.serve()));
  servers.spawn(end_with("the metrics server", metrics.run()));
  cluster.spawn(end_with("the controllers", serve_cluster(cluster)));
  servers.spawn(wait_for_signal());
  co_await stop_.wait();
  // The API server learns from /readyz to send reviews to another replica, which takes a moment. The lease is released
  // only then, because the next leader may configure reviews that this version does not know.
  if (webhooks_.webhook && !failure_) co_await webhooks_.webhook->stop(options_.stop_delay);
  servers.spawn(give_up_stopping());
  co_await cluster.stop();
  metric_agent_.agent.reset();
  metric_agent_.pods.reset();
  webhooks_.webhook.reset();
  webhooks_.callers.reset();
  webhooks_.metrics.reset();
  webhooks_.display.reset();
  kubelet_.reset();
  process_.reset();
  co_await servers.stop();
  co_await home_.stop();
  if (failure_) co_return std::unexpected(*failure_);
  log_.info("stopped");
  co_return kube::Result<void>();
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int run_daemon(Options options) {
  kube::configure_logging(options.log_level, options.log_format);
  allow_many_files();
  bound_answers();
  auto config = read_home_config(options);
  if (config) {
    if (auto completed = complete_settings(options, *config); !completed)
      config = std::unexpected(std::move(completed.error()));
  }
  if (!config) {
    std::cerr << "liqod: " << config.error().text() << "\n";
    return 1;
  }
  asio::io_context io(1);
  kube::async::RealClock clock;
  auto credentials = kube::net::Credentials::make(std::move(*config), clock);
  if (!credentials) {
    std::cerr << "liqod: " << credentials.error().text() << "\n";
    return 1;
  }
  kube::Metrics metrics;
  kube::Histogram turns = metrics.histogram(liqo::families::loop_turn, {},
                                            {0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5});
  Daemon daemon(io.get_executor(), options, metrics, std::move(*credentials));
  std::exception_ptr thrown;
  kube::Result<void> ended;
  asio::co_spawn(io, daemon.run(), [&](std::exception_ptr exception, kube::Result<void> result) {
    thrown = std::move(exception);
    ended = std::move(result);
  });
  TurnMeter meter(steady_seconds, thread_cpu_seconds);
  while (io.run_one() > 0) turns.observe(meter.ended());
  if (!thrown && ended) return 0;
  std::cerr << "liqod: " << (thrown ? kube::async::describe(thrown) : ended.error().text()) << "\n";
  return 1;
}

}  // namespace liqod
