#include "controllers/sessions/provider_cluster.hpp"

#include "controllers/common/configurations_of.hpp"
#include "controllers/common/foreign_cluster_of.hpp"
#include "controllers/common/known.hpp"
#include "controllers/common/shared_history.hpp"
#include "controllers/links/provider_api.hpp"
#include "core/peering/foreign_cluster.hpp"
#include "liqo/api/foreign_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {

ProviderCluster::ProviderCluster(kube::ObjectKey home, std::shared_ptr<ProviderBudget> budget, StatusSources& statuses,
                                 kube::async::Slots& home_lists, std::function<bool()> may_begin, Context context)
    : home_(std::move(home)),
      context_(context),
      provider_api_(make_provider_api(link_, home_.name, context)),
      budget_(std::move(budget)),
      stores_(budget_->stores,
              [this] {
                if (ended_) ended_();
              }),
      caches_(context.executor, provider_api_, context.metrics, &stores_),
      twins_(context.executor, context.clock, caches_, may_begin),
      namespace_maps_(context.home.acquire(
          {.resource = api::kinds::namespace_maps,
           .ns = home_.ns,
           .selection = {.label_selector = kube::label_is(api::labels::remote_cluster_id, home_.name)}})),
      foreign_clusters_(acquire_foreign_clusters(context.home)),
      configurations_(context.home.acquire({.resource = api::kinds::configurations})),
      ips_(context.home.acquire({.resource = api::kinds::ips, .ns = home_.ns})),
      reflection_(home_,
                  {.api = provider_api_,
                   .stores = stores_,
                   .home_writes = budget_->home_writes,
                   .statuses = statuses,
                   .twins = twins_,
                   .home_lists = home_lists,
                   .may_begin = std::move(may_begin)},
                  context),
      workers_(context.executor),
      log_(kube::Log("provider").with("cluster", home_.name)) {
  share_history(caches_);
  namespace_maps_.subscribe([this](const kube::ObjectKey&) { read_mapping(); });
  const auto is_ours = [this](const kube::Object* peer) {
    return peer && api::ForeignCluster(*peer).cluster_id() == home_.name;
  };
  // Each of many peers gets the events of all of them.
  foreign_clusters_.subscribe([this, is_ours](const kube::Change& change) {
    if (is_ours(change.now) || is_ours(change.previous())) (void)read_addresses();
  });
  configurations_.subscribe([this](const kube::ObjectKey& key) {
    if (key.ns == home_.ns) (void)read_addresses();
  });
  ips_.subscribe([this](const kube::ObjectKey&) { (void)read_addresses(); });
}

void ProviderCluster::start() {
  workers_.spawn(caches_.run());
  workers_.spawn(twins_.run());
  reflection_.start(workers_);
  workers_.spawn(read_mapping_first());
  workers_.spawn(read_addresses_first());
}

asio::awaitable<void> ProviderCluster::stop() { co_await workers_.stop(); }

void ProviderCluster::on_end(std::function<void()> handler) {
  ended_ = handler;
  workers_.on_loss(std::move(handler));
}

std::string ProviderCluster::blockage() const {
  const auto trouble = caches_.trouble(kube::Errc::too_large);
  if (!trouble || stores_.is_exceeded()) return {};
  return "cluster " + home_.name + " shows more than can be read of one provider: " + trouble->text() +
         "; remove there what does not belong to offloaded pods, or raise --provider-cache-mib and the memory limit of "
         "liqod; it is tried again after 5 s to 5 minutes";
}

void ProviderCluster::join(PodController& pods) {
  pods_.insert(&pods);
  if (addresses_) notify_addresses(pods);
  if (mapping_) pods.set_mapping(*mapping_);
}

void ProviderCluster::notify_addresses(PodController& pods) const {
  pods.set_addresses(*addresses_);
  pods.set_withdrawal(withdrawal_);
  pods.set_silence(silence_);
}

void ProviderCluster::read_mapping() {
  if (!namespace_maps_->has_synced()) return;
  // If both clusters lend to each other, the peer's map is in the same namespace, and is not ours.
  std::vector<kube::Object> maps;
  for (kube::Object& found : namespace_maps_->objects())
    if (found.label(api::labels::replicated) != "true") maps.push_back(std::move(found));
  std::optional<kube::Object> map;
  for (kube::Object& found : maps)
    if (maps.size() == 1 || found.name() == home_.name) map = std::move(found);
  if (!map && !maps.empty())
    log_.warn("several NamespaceMaps, and none is named after the cluster: none is used", {{"maps", maps.size()}});

  auto mapping = map ? core::NamespaceMapping::from(api::NamespaceMap(*map), mapping_ ? &*mapping_ : nullptr)
                     : core::NamespaceMapping();
  for (const std::string& refusal : mapping.refused()) {
    log_.warn("a namespace mapping is refused", {{"reason", refusal}});
    context_.events.warning(*map, api::kinds::namespace_maps, api::reasons::failed_reflection, refusal);
  }
  mapping_ = std::move(mapping);
  for (PodController* pods : pods_) pods->set_mapping(*mapping_);
  reflection_.set_mapping(*mapping_);
}

asio::awaitable<void> ProviderCluster::read_mapping_first() {
  // The mapping counts only once the cache of NamespaceMaps is complete: before that, a namespace may seem to have no
  // twin because its map was not read yet.
  co_await namespace_maps_->wait_synced();
  read_mapping();
}

bool ProviderCluster::read_addresses() {
  for (const kube::InformerHandle* source : {&foreign_clusters_, &configurations_, &ips_})
    if (!is_known_or_forbidden(**source)) return false;
  const auto peer = foreign_cluster_of(foreign_clusters_->store(), home_.name);
  // The ForeignCluster will be made soon.
  if (!peer) return false;
  const auto configurations = configurations_of(configurations_->store(), home_.ns, home_.name);
  std::vector<kube::Object> ips;
  for (kube::Object& found : ips_->objects()) ips.push_back(std::move(found));
  addresses_ = core::PeerAddresses::of(*peer, configurations, ips);
  withdrawal_ = core::withdrawal_note(*peer);
  silence_ = core::silence_note(*peer);
  reflection_.set_network(configurations);
  reflection_.set_shown(*addresses_);
  for (PodController* pods : pods_) notify_addresses(*pods);
  return true;
}

asio::awaitable<void> ProviderCluster::read_addresses_first() {
  // A kind that is not installed never completes a list, and there is no event for that.
  while (!read_addresses()) co_await context_.clock.sleep(std::chrono::milliseconds(200));
}

}  // namespace liqo::controllers
