#include "controllers/sessions/provider_session.hpp"

#include <utility>

#include "controllers/links/provider_api.hpp"

namespace liqo::controllers {
namespace {

/// A provider may be upgraded without being unreachable for long enough to be noticed.
constexpr kube::Duration version_interval = std::chrono::minutes(10);

}  // namespace

ProviderSession::ProviderSession(core::ForgingContext forging, std::shared_ptr<ProviderLink> link,
                                 std::shared_ptr<ProviderCluster> cluster, Context context)
    : context_(context),
      provider_(forging.clusters.remote),
      cluster_(std::move(cluster)),
      link_(std::move(link)),
      provider_api_(make_provider_api(link_->transport(), forging.clusters.remote, context)),
      pods_(forging,
            {.twins = cluster_->twins(),
             .caches = cluster_->caches(),
             .api = provider_api_,
             .owners = &cluster_->owners()},
            cluster_->budget(), context),
      workers_(context.executor),
      log_(kube::Log("provider").with("cluster", forging.clusters.remote).with("node", forging.node_name)) {
  health_.failure_threshold = context.settings.nodes.probe_failures;
}

void ProviderSession::start() {
  workers_.spawn(kube::run_while_leading(context_.leadership, [this] { return pods_.run(); }));
  workers_.spawn(kube::run_while_leading(context_.leadership, [this] { return pods_.run_questions(); }));
  workers_.spawn(probe());
  cluster_->join(pods_);
}

asio::awaitable<void> ProviderSession::stop() {
  cluster_->leave(pods_);
  co_await workers_.stop();
  co_await link_->stop();
}

asio::awaitable<bool> ProviderSession::read_version() {
  const auto answer = co_await provider_api_.raw("/version", context_.settings.nodes.probe_timeout);
  // A provider that forbids it, or answers something else, is asked again as rarely as the others.
  const std::string version = answer ? core::server_version(*answer) : std::string();
  if (version.empty() || version == health_.version) co_return false;
  health_.version = version;
  co_return true;
}

asio::awaitable<void> ProviderSession::probe() {
  kube::TimePoint version_due{};
  while (true) {
    const kube::TimePoint start = context_.clock.now();
    auto answer = co_await provider_api_.raw("/livez", context_.settings.nodes.probe_timeout);
    const core::ProbeVerdict verdict =
        core::judge_probe(answer ? nullptr : &answer.error(), link_->credentials_trouble(context_.clock.wall()));
    const core::ProviderHealth before = std::exchange(health_, core::with_probe(health_, verdict));
    const bool was_refused = std::exchange(refused_, verdict.is_refused);
    const bool has_turned = core::has_turned(before, health_);
    if (has_turned && verdict.is_alive)
      log_.info("provider answers");
    else if (has_turned)
      log_.warn("provider does not answer", {{"error", health_.last_error}, {"failures", health_.failed_probes}});
    bool is_news = has_turned || was_refused != refused_;
    if (std::string blockage = cluster_->blockage(); blockage.empty() != blockage_.empty()) {
      blockage_ = std::move(blockage);
      is_news = true;
    }
    // The provider may have been upgraded during the outage.
    if (has_turned) version_due = start;
    if (verdict.is_alive && start >= version_due) {
      version_due = start + version_interval;
      is_news = co_await read_version() || is_news;
    }
    if (is_news && health_changed_) health_changed_();
    co_await context_.clock.sleep_until(start + context_.settings.nodes.probe_interval);
  }
}

}  // namespace liqo::controllers
