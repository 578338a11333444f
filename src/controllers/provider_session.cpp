#include "liqo/controllers/provider_session.hpp"

#include <boost/asio/this_coro.hpp>

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {

ProviderSession::ProviderSession(const asio::any_io_executor& executor, std::string tenant_namespace,
                                 core::ForgingContext forging, std::unique_ptr<ProviderLink> link, Context context)
    : context_(context),
      link_(std::move(link)),
      api_(
          link_->transport(), context.clock, context.random, context.metrics,
          {.cluster = forging.clusters.remote, .may_write = [&lead = context.leadership] { return lead.may_write(); }}),
      provider_(executor, api_, context.metrics),
      namespace_maps_(
          context.home.acquire({.resource = api::kinds::namespace_maps,
                                .ns = std::move(tenant_namespace),
                                .selection = {.label_selector = std::string(api::labels::remote_cluster_id) + "=" +
                                                                forging.clusters.remote}})),
      pods_(executor, forging, provider_, context),
      config_maps_(executor, *reflection::find_reflected_kind("ConfigMap"), reflection::SelectionPolicy::deny_list,
                   forging,
                   {.home = context.home,
                    .provider = provider_,
                    .events = context.events,
                    .clock = context.clock,
                    .random = context.random,
                    .metrics = context.metrics}),
      group_(executor, kube::async::TaskGroup::OnFailure::keep_others),
      log_(kube::Log("provider").with("cluster", forging.clusters.remote).with("node", forging.node_name)) {
  health_.failure_threshold = context.settings.probe_failures;
  health_.network = core::ProviderHealth::Network::unchecked;
  namespace_maps_.subscribe([this](const kube::ObjectKey&) { read_mapping(); });
}

void ProviderSession::start() {
  group_.spawn(provider_.run());
  group_.spawn(kube::run_while_leading(context_.leadership, [this] { return pods_.run(); }));
  group_.spawn(kube::run_while_leading(context_.leadership, [this] { return config_maps_.run(); }));
  group_.spawn(probe());
  // The mapping counts only once the cache of NamespaceMaps is complete: before that, a namespace without a twin may
  // just not have been read yet.
  struct FirstRead {
    static asio::awaitable<void> run(ProviderSession& self) {
      co_await self.namespace_maps_->wait_synced();
      self.read_mapping();
    }
  };
  group_.spawn(FirstRead::run(*this));
}

asio::awaitable<void> ProviderSession::stop() {
  co_await group_.stop();
  co_await link_->stop();
}

void ProviderSession::read_mapping() {
  if (!namespace_maps_->has_synced()) return;
  // Where both clusters lend to each other, the peer's map lies in the same namespace, and is the peer's word.
  std::vector<kube::Object> maps;
  for (const kube::ObjectKey& key : namespace_maps_->store().keys())
    if (auto found = namespace_maps_->find(key); found && found->label(api::labels::replicated) != "true")
      maps.push_back(std::move(*found));
  std::optional<kube::Object> map;
  for (kube::Object& found : maps)
    if (maps.size() == 1 || found.name() == pods_.forging().clusters.remote) map = std::move(found);
  if (!map && !maps.empty())
    log_.warn("several NamespaceMaps, and none is named after the cluster: none is used", {{"maps", maps.size()}});

  auto mapping =
      map ? core::NamespaceMapping::from(api::NamespaceMap(*map), &pods_.mapping()) : core::NamespaceMapping();
  for (const std::string& refusal : mapping.refused()) {
    log_.warn("a namespace mapping is refused", {{"reason", refusal}});
    context_.events.warning(*map, api::kinds::namespace_maps, api::reasons::failed_reflection, refusal);
  }
  for (auto known = reflected_.begin(); known != reflected_.end();) {
    const std::string* remote = mapping.to_remote(known->first);
    if (remote && *remote == known->second) {
      ++known;
      continue;
    }
    log_.info("namespace is no longer offloaded", {{"namespace", known->first}, {"twin", known->second}});
    config_maps_.stop_namespace(known->first);
    known = reflected_.erase(known);
  }
  for (const auto& [local, remote] : mapping.entries()) {
    if (reflected_.contains(local)) continue;
    log_.info("namespace is offloaded", {{"namespace", local}, {"twin", remote}});
    config_maps_.start_namespace(local, remote);
    reflected_[local] = remote;
  }
  pods_.set_mapping(std::move(mapping));
}

asio::awaitable<void> ProviderSession::probe() {
  while (true) {
    const kube::TimePoint start = context_.clock.now();
    auto answer = co_await api_.raw("/livez", context_.settings.probe_timeout);
    // A server that knows us and forbids the path is alive; one that does not know us (401) is of no use.
    const bool alive = answer || answer.error().is_forbidden();
    const bool was_known = health_.probed;
    const bool was_alive = health_.failed_probes < health_.failure_threshold;
    health_.probed = true;
    if (alive) {
      health_.failed_probes = 0;
      health_.last_error.clear();
    } else {
      // Patience is for a provider that has answered before: one that never did is not Ready from the start.
      health_.failed_probes = was_known ? health_.failed_probes + 1 : health_.failure_threshold;
      health_.last_error = answer.error().text();
    }
    const bool is_alive = health_.failed_probes < health_.failure_threshold;
    if (!was_known || was_alive != is_alive) {
      if (is_alive && alive) {
        log_.info("provider answers");
      } else {
        log_.warn("provider does not answer", {{"error", health_.last_error}, {"failures", health_.failed_probes}});
      }
      if (health_changed_) health_changed_();
    }
    co_await context_.clock.sleep_until(start + context_.settings.probe_interval);
  }
}

}  // namespace liqo::controllers
