#include "controllers/peering/cluster_keys.hpp"

#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"

namespace liqo::controllers {

using kube::Outcome;

ClusterKeys::ClusterKeys(Context context)
    : context_(std::move(context)),
      secrets_(context_.home.acquire({.resource = kube::resources::secrets,
                                      .ns = context_.settings.liqo_namespace,
                                      .selection = {.field_selector = kube::name_is(core::cluster_keys_secret)}})),
      config_maps_(
          context_.home.acquire({.resource = kube::resources::config_maps,
                                 .ns = context_.settings.liqo_namespace,
                                 .selection = {.field_selector = kube::name_is(core::cluster_id_config_map)}})),
      controller_(context_, {.name = "cluster-keys"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  // There are no events for missing objects, so each one is enqueued by its name once the cache is complete.
  const auto watch = [this](kube::InformerHandle& cache, std::string_view name) {
    const auto look = [this, key = kube::ObjectKey{context_.settings.liqo_namespace, std::string(name)}] {
      controller_.enqueue({.object = key});
    };
    controller_.watch(cache, [look](const kube::ObjectKey&) { look(); }, look);
    if (cache->has_synced()) look();
  };
  watch(secrets_, core::cluster_keys_secret);
  watch(config_maps_, core::cluster_id_config_map);
}

asio::awaitable<Outcome> ClusterKeys::reconcile(kube::WorkKey work) {
  return work.object.name == core::cluster_keys_secret ? ensure_keys() : ensure_cluster_id();
}

kube::Result<core::PrivateKey> ClusterKeys::make_key() const {
  return context_.settings.peering.rsa_keys ? core::PrivateKey::make_rsa()
                                            : core::PrivateKey::make_ed25519(context_.entropy);
}

asio::awaitable<Outcome> ClusterKeys::ensure_keys() {
  const kube::ObjectKey key{context_.settings.liqo_namespace, std::string(core::cluster_keys_secret)};
  std::optional<kube::Object> secret = secrets_->find(key);
  if (!secret) {
    // Deleted while we run: every peering uses the key that we have.
    KUBE_CO_TRY(made, key_ ? kube::Result<core::PrivateKey>(*key_) : make_key(), "making the cluster's keys");
    KUBE_CO_TRY(created,
                co_await context_.home.api().create(kube::resources::secrets, core::forge_cluster_keys(key.ns, made)),
                "keeping the cluster's keys");
    secret = created;
    secrets_->observe(std::move(created));
    log_.info("the cluster has keys now", {{"secret", key}});
  }
  auto read = core::read_cluster_keys(*secret);
  if (!read) {
    if (key_)
      log_.error("the cluster's keys cannot be used any more; the old ones stay in use", {{"error", read.error()}});
    co_return Outcome::stop(std::move(read.error()));
  }
  if (key_ && key_->public_key() == read->public_key()) co_return Outcome::done();
  key_ = std::move(*read);
  for (const auto& reader : readers_) reader();
  co_return Outcome::done();
}

asio::awaitable<Outcome> ClusterKeys::ensure_cluster_id() {
  const Settings& settings = context_.settings;
  const kube::ObjectKey key{settings.liqo_namespace, std::string(core::cluster_id_config_map)};
  const auto found = config_maps_->find(key);
  if (found) {
    const std::string_view id = kube::string_at(found->tree(), {"data", core::cluster_id_key});
    if (id != settings.cluster_id) {
      log_.error("the ConfigMap names another cluster than --cluster-id: peers would get the wrong one",
                 {{"configmap", key}, {"named", id}, {"cluster", settings.cluster_id}});
      co_return Outcome::done();
    }
    const std::string_view written = kube::string_at(found->tree(), {"data", core::pod_cidrs_key});
    if (settings.peering.pod_cidrs.empty() || written == settings.peering.pod_cidrs) co_return Outcome::done();
    kube::Object next = *found;
    kube::ensure_object(next.tree(), "data")[core::pod_cidrs_key] = kube::json::string(settings.peering.pod_cidrs);
    KUBE_CO_TRY(replaced, co_await context_.home.api().replace(kube::resources::config_maps, next),
                "writing the ranges of pods");
    config_maps_->observe(std::move(replaced));
    co_return Outcome::done();
  }
  KUBE_CO_TRY(created,
              co_await context_.home.api().create(
                  kube::resources::config_maps,
                  core::forge_cluster_id(key.ns, settings.cluster_id, settings.peering.pod_cidrs)),
              "writing the cluster's ID");
  config_maps_->observe(std::move(created));
  co_return Outcome::done();
}

}  // namespace liqo::controllers
