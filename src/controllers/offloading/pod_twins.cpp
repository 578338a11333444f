#include "controllers/offloading/pod_twins.hpp"

#include <utility>
#include <vector>

#include "core/common/meta.hpp"
#include "core/common/names.hpp"
#include "core/offloading/pod_certificates.hpp"
#include "core/peering/missing_twins.hpp"
#include "kube/client/find_live.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::controllers {
namespace {

namespace reasons = api::reasons;

/// The metrics series of the pods of one namespace.
ReflectionSeries series_of(const OffloadingNode& node, std::string_view local_namespace) {
  return {.metrics = node.context.metrics,
          .ns = local_namespace,
          .kind = kube::resources::pods.kind,
          .forging = node.forging};
}

}  // namespace

bool PodTwins::is_of_this_node(const kube::Object* object) const {
  return object && object->label(api::labels::node_name) == node_.forging.node_name;
}

bool PodTwins::is_known_here(const kube::ObjectKey& local) const {
  return node_.local_pods->store().contains(local) || node_.memory.contains(local);
}

void PodTwins::enqueue_all() {
  for (const kube::ObjectKey& key : node_.local_pods->store().keys()) node_.enqueue(key);
  for (const auto& [local, twin] : twins_) enqueue_twin(local);
}

void PodTwins::wake_anew() {
  for (const auto& [local, twin] : twins_) {
    node_.provider.twins.wake_anew(*twin.watch);
    node_.enqueue({local, {}});
  }
}

void PodTwins::enqueue_twin(const std::string& local) {
  const PodTwin& twin = twins_.at(local);
  for (const kube::ObjectKey& key : node_.local_pods->store().keys_in(local)) node_.enqueue(key);
  for (const kube::InformerHandle* cache : {&twin.watch->shadows, &twin.watch->pods}) {
    if (!twin.has_synced()) break;
    for (const kube::ObjectKey& key : (*cache)->store().keys()) {
      const kube::ObjectKey here{local, key.name};
      const auto object = is_known_here(here) ? std::nullopt : (*cache)->find(key);
      if (!object || is_of_this_node(&*object)) node_.enqueue(here);
    }
  }
  for (const kube::ObjectKey& key : tokens_.secrets(local)) enqueue_token_pod(local, key);
}

void PodTwins::enqueue_changed(const TwinWatch& watch, const kube::Change& change) {
  if (!find(watch)) return;
  kube::ObjectKey here{watch.local, change.key.name};
  if (is_known_here(here) || is_of_this_node(change.now ? change.now : change.previous())) node_.enqueue(here);
}

void PodTwins::enqueue_token_pod(const std::string& local, const kube::ObjectKey& secret) {
  const PodTwin* twin = find(local);
  if (twin) node_.provider.twins.wake(*twin->watch);
  const auto known = tokens_.find(local, secret);
  const std::string_view annotated = known ? known->annotation(api::annotations::token_pod_name) : std::string_view();
  if (const std::string_view pod = core::token_secret_pod(secret.name, annotated); !pod.empty())
    node_.enqueue({local, std::string(pod)});
  if (const std::string_view pod = core::certificate_secret_pod(secret.name, annotated); !pod.empty())
    node_.enqueue({local, std::string(pod)});
  if (known) return;
  // A Secret that is gone and had a shortened name does not show its pod.
  for (const kube::ObjectKey& key : node_.local_pods->store().keys_in(local))
    if (core::token_secret_name(key.name) == secret.name || core::pod_certificates_name(key.name) == secret.name)
      node_.enqueue(key);
}

PodTwin* PodTwins::find(const std::string& local_namespace) {
  const auto found = twins_.find(local_namespace);
  return found == twins_.end() ? nullptr : &found->second;
}

PodTwin* PodTwins::find(const TwinWatch& watch) {
  PodTwin* twin = find(watch.local);
  return twin && twin->watch.get() == &watch ? twin : nullptr;
}

void PodTwins::count_reflected(const std::string& local_namespace) {
  if (PodTwin* twin = find(local_namespace)) twin->counters.add_reflected(series_of(node_, local_namespace));
}

void PodTwins::count_failed(const std::string& local_namespace) {
  if (PodTwin* twin = find(local_namespace)) twin->counters.add_failed(series_of(node_, local_namespace));
}

kube::Informer* PodTwins::cache_of(const std::string& local_namespace, std::string_view remote_namespace,
                                   kube::InformerHandle TwinWatch::* which) {
  const PodTwin* twin = find(local_namespace);
  if (!twin || twin->remote != remote_namespace) return nullptr;
  const kube::InformerHandle& cache = (*twin->watch).*which;
  return cache ? &*cache : nullptr;
}

const kube::Informer* PodTwins::pods(const std::string& local_namespace, std::string_view remote_namespace) const {
  const auto found = twins_.find(local_namespace);
  if (found == twins_.end() || found->second.remote != remote_namespace || !found->second.has_synced()) return nullptr;
  return &*found->second.watch->pods;
}

void PodTwins::set_mapping(core::NamespaceMapping mapping) {
  const bool is_first = !std::exchange(mapping_known_, true);
  const auto changed = mapping_.differences(mapping);
  mapping_ = std::move(mapping);
  const auto is = [](const std::string* twin, const std::string& name) { return twin && *twin == name; };
  for (auto twin = twins_.begin(); twin != twins_.end();) {
    twin->second.withdrawn = !is(mapping_.to_remote(twin->first), twin->second.remote);
    if (twin->second.withdrawn && !is(mapping_.withdrawn(twin->first), twin->second.remote)) {
      tokens_.leave(twin->first);
      twin = twins_.erase(twin);
    } else {
      ++twin;
    }
  }
  std::erase_if(left_, [&](const auto& left) { return !is(mapping_.withdrawn(left.first), left.second); });
  // The new twin of a namespace starts once the old one holds no pods.
  for (const auto& [local, remote] : mapping_.entries())
    if (!twins_.contains(local)) start(local, remote);
  std::vector<std::string> withdrawn;
  for (const auto& [local, twin] : twins_)
    if (twin.withdrawn) withdrawn.push_back(local);
  for (const std::string& local : withdrawn) leave_withdrawn(local);
  if (is_first) return enqueue_all();
  // The map changes often while a thousand twins are made: only pods of changed namespaces are enqueued.
  for (const std::string& local : changed) {
    if (twins_.contains(local))
      enqueue_twin(local);
    else
      for (const kube::ObjectKey& key : node_.local_pods->store().keys_in(local)) node_.enqueue(key);
  }
}

PodTwin& PodTwins::start(const std::string& local, const std::string& remote) {
  PodTwin& twin = twins_[local];
  twin.remote = remote;
  twin.watch = node_.provider.twins.watch(local, remote);
  tokens_.join(local, twin.watch);
  if (node_.context.settings.offloading.api_server_mode == core::ApiServerMode::always) tokens_.watch(local);
  // The caches of the twin may be complete already for another virtual node.
  if (twin.has_synced()) enqueue_twin(local);
  node_.enqueue({local, {}});
  return twin;
}

void PodTwins::watch_withdrawn(const std::string& local) {
  const std::string* remote = mapping_.withdrawn(local);
  if (!remote || twins_.contains(local) || left_.contains(local)) return;
  start(local, *remote).withdrawn = true;
}

asio::awaitable<kube::Outcome> PodTwins::look_for_tokens(std::string local) {
  const PodTwin* twin = find(local);
  if (!twin || twin->withdrawn || tokens_.is_watched(local)) co_return kube::Outcome::done();
  const std::shared_ptr<TwinWatch> watch = twin->watch;
  auto looked = co_await node_.provider.twins.find_tokens(watch, node_.provider.api, node_.forging.clusters);
  // The right to read the twin goes with the twin.
  if (!looked && !looked.error().is_permanent())
    co_return kube::Outcome::retry(std::move(looked.error()).in("looking for tokens that are left"));
  const PodTwin* twin_after = find(local);
  if (twin_after && twin_after->watch == watch && watch->has_tokens_of(node_.forging.node_name)) tokens_.watch(local);
  co_return kube::Outcome::done();
}

bool PodTwins::is_needed(const TwinWatch& watch) const {
  const auto twin = twins_.find(watch.local);
  if (twin == twins_.end() || twin->second.watch.get() != &watch) return false;
  return twin->second.withdrawn || !node_.local_pods->has_synced() || tokens_.holds_any(watch.local) ||
         !node_.local_pods->store().keys_in(watch.local).empty();
}

bool PodTwins::is_in_doubt(const kube::Object& local, const kube::ObjectKey& remote_key, const kube::Failure& refusal) {
  if (!refusal.is_permanent()) return true;
  // The right to read the twin goes with the twin, but its lack may also be a fault of the provider. A fault may last
  // for ever, so the pod does not wait for it any longer than for a provider that was restored.
  if (!mapping_.is_troubled(local.ns()) || !local.is_deleting()) return false;
  auto& since = node_.memory.of(local).hidden_since;
  if (!since)
    node_.warn(local, reasons::failed_deletion,
               "the pod may still run in namespace " + remote_key.ns + " of cluster " + node_.cluster() +
                   ", which does not let this cluster look: it is removed here once it does, or in " +
                   std::to_string(core::missing_patience / std::chrono::minutes(1)) + " minutes");
  since = since.value_or(node_.context.clock.now());
  return node_.context.clock.now() - *since < core::missing_patience;
}

asio::awaitable<kube::Result<void>> PodTwins::look_behind(kube::Object local) {
  const std::string ns(local.ns());
  const std::string* remote = mapping_.withdrawn(ns);
  if (!remote || twins_.contains(ns) || left_.contains(ns)) co_return kube::Result<void>();
  bool left_something = local.has_annotation(api::annotations::remote_pod_uid);
  const bool is_over = api::is_final_phase(api::phase_of(local)) ||
                       kube::string_at(local.status(), {"reason"}) == reasons::offloading_back_off;
  if (!left_something && !is_over && !node_.is_ours_alone(local) && !node_.memory.of(local).looked_behind) {
    const kube::ObjectKey key{*remote, std::string(local.name())};
    for (const kube::Resource& kind : {api::kinds::shadow_pods, kube::resources::pods}) {
      auto live = co_await kube::find_live(node_.provider.api, kind, key);
      if (!live && is_in_doubt(local, key, live.error()))
        co_return kube::fail(std::move(live.error()), "looking for what is left of the pod");
      if (live && *live && node_.is_made_for(**live, local.uid())) left_something = true;
    }
    node_.memory.of(local).looked_behind = true;
  }
  if (left_something) watch_withdrawn(ns);
  co_return kube::Result<void>();
}

void PodTwins::leave_withdrawn(const std::string& local) {
  const auto twin = twins_.find(local);
  if (twin == twins_.end() || !twin->second.withdrawn) return;
  const TwinWatch& watch = *twin->second.watch;
  if (!watch.is_resting && !watch.has_synced()) return;
  const auto holds = [this](const kube::Informer& watched) {
    for (const kube::Object& object : watched.objects())
      if (core::is_reflected(object, node_.forging.clusters) && is_of_this_node(&object)) return true;
    return false;
  };
  if (!watch.is_resting && (holds(*watch.shadows) || holds(*watch.pods))) return;
  left_[local] = twin->second.remote;
  tokens_.leave(local);
  twins_.erase(twin);
  if (const std::string* remote = mapping_.to_remote(local)) start(local, *remote);
  for (const kube::ObjectKey& key : node_.local_pods->store().keys_in(local)) node_.enqueue(key);
}

}  // namespace liqo::controllers
