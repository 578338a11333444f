// The twin namespaces that hold the pods of a virtual node, and those that are withdrawn.
#include <algorithm>
#include <utility>

#include "controllers/common/server_time.hpp"
#include "controllers/offloading/pod.hpp"
#include "core/common/meta.hpp"
#include "core/common/names.hpp"
#include "core/peering/missing_twins.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::controllers {
namespace {

namespace reasons = api::reasons;

/// What is known of the clock of the API server at home may be wrong by that.
constexpr kube::Duration clock_slack = std::chrono::minutes(1);

}  // namespace

void PodController::enqueue_twin(const std::string& local) {
  const Twin& twin = twins_.at(local);
  for (const kube::ObjectKey& key : local_pods_->store().keys_in(local)) enqueue(key);
  for (const kube::InformerHandle* cache : {&twin.watch->shadows, &twin.watch->pods}) {
    if (!twin.has_synced()) break;
    for (const kube::ObjectKey& key : (*cache)->store().keys()) {
      const kube::ObjectKey here{local, key.name};
      const auto object = is_known_here(here) ? std::nullopt : (*cache)->find(key);
      if (!object || is_of_this_node(&*object)) enqueue(here);
    }
  }
  for (const kube::ObjectKey& key : tokens_.secrets(local)) enqueue_token_pod(local, key);
}

void PodController::enqueue_changed(const TwinWatch& watch, const kube::Change& change) {
  const Twin* twin = find_twin(watch.local);
  if (!twin || twin->watch.get() != &watch) return;
  kube::ObjectKey here{watch.local, change.key.name};
  if (is_known_here(here) || is_of_this_node(change.now ? change.now : change.previous())) enqueue(here);
}

void PodController::enqueue_token_pod(const std::string& local, const kube::ObjectKey& secret) {
  const Twin* twin = find_twin(local);
  if (twin) provider_.twins.wake(*twin->watch);
  const auto known = tokens_.find(local, secret);
  const std::string_view annotated = known ? known->annotation(api::annotations::token_pod_name) : std::string_view();
  if (const std::string_view pod = core::token_secret_pod(secret.name, annotated); !pod.empty())
    enqueue({local, std::string(pod)});
  if (known) return;
  // A Secret that is gone and whose name was cut does not tell its pod.
  for (const kube::ObjectKey& key : local_pods_->store().keys_in(local))
    if (core::token_secret_name(key.name) == secret.name) enqueue(key);
}

PodController::Twin* PodController::find_twin(const std::string& local_namespace) {
  const auto found = twins_.find(local_namespace);
  return found == twins_.end() ? nullptr : &found->second;
}

kube::Informer* PodController::cache_of(const std::string& local_namespace, std::string_view remote_namespace,
                                        kube::InformerHandle TwinWatch::* which) {
  const Twin* twin = find_twin(local_namespace);
  if (!twin || twin->remote != remote_namespace) return nullptr;
  const kube::InformerHandle& cache = (*twin->watch).*which;
  return cache ? &*cache : nullptr;
}

const kube::Informer* PodController::twin_pods(const std::string& local_namespace,
                                               std::string_view remote_namespace) const {
  const auto found = twins_.find(local_namespace);
  if (found == twins_.end() || found->second.remote != remote_namespace || !found->second.has_synced()) return nullptr;
  return &*found->second.watch->pods;
}

void PodController::set_mapping(core::NamespaceMapping mapping) {
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
    if (!twins_.contains(local)) start_twin(local, remote);
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
      for (const kube::ObjectKey& key : local_pods_->store().keys_in(local)) enqueue(key);
  }
}

PodController::Twin& PodController::start_twin(const std::string& local, const std::string& remote) {
  Twin& twin = twins_[local];
  twin.remote = remote;
  twin.watch = provider_.twins.watch(local, remote);
  tokens_.join(local, twin.watch);
  if (context_.settings.offloading.api_server_mode == core::ApiServerMode::always) tokens_.watch(local);
  // The caches of the twin may be complete already for another virtual node.
  if (twin.has_synced()) enqueue_twin(local);
  enqueue({local, {}});
  return twin;
}

void PodController::watch_withdrawn(const std::string& local) {
  const std::string* remote = mapping_.withdrawn(local);
  if (!remote || twins_.contains(local) || left_.contains(local)) return;
  start_twin(local, *remote).withdrawn = true;
}

asio::awaitable<kube::Outcome> PodController::look_for_tokens(std::string local) {
  const Twin* twin = find_twin(local);
  if (!twin || twin->withdrawn || tokens_.is_watched(local)) co_return kube::Outcome::done();
  const std::shared_ptr<TwinWatch> watch = twin->watch;
  auto looked = co_await provider_.twins.find_tokens(watch, provider_.api, forging_.clusters);
  // The right to read the twin goes with the twin.
  if (!looked && !looked.error().is_permanent())
    co_return kube::Outcome::retry(std::move(looked.error()).in("looking for tokens that are left"));
  const Twin* twin_after = find_twin(local);
  if (twin_after && twin_after->watch == watch && watch->has_tokens_of(forging_.node_name)) tokens_.watch(local);
  co_return kube::Outcome::done();
}

bool PodController::is_needed(const TwinWatch& watch) const {
  const auto twin = twins_.find(watch.local);
  if (twin == twins_.end() || twin->second.watch.get() != &watch) return false;
  return twin->second.withdrawn || !local_pods_->has_synced() || tokens_.holds_any(watch.local) ||
         !local_pods_->store().keys_in(watch.local).empty();
}

bool PodController::is_ours_alone(const kube::Object& local) const {
  const auto created = kube::parse_time(local.creation_timestamp());
  return created && *created > server_time(context_, begun_) + clock_slack;
}

asio::awaitable<kube::Result<void>> PodController::look_behind(kube::Object local) {
  const std::string ns(local.ns());
  const std::string* remote = mapping_.withdrawn(ns);
  if (!remote || twins_.contains(ns) || left_.contains(ns)) co_return kube::Result<void>();
  bool left_something = local.has_annotation(api::annotations::remote_pod_uid);
  const bool is_over = api::is_final_phase(api::phase_of(local)) ||
                       kube::string_at(local.status(), {"reason"}) == reasons::offloading_back_off;
  if (!left_something && !is_over && !is_ours_alone(local) && !memory_of(local.key(), local.uid()).looked_behind) {
    const kube::ObjectKey key{*remote, std::string(local.name())};
    for (const kube::Resource& kind : {api::kinds::shadow_pods, kube::resources::pods}) {
      auto live = co_await provider_.api.get(kind, key);
      if (!live && !live.error().is_not_found()) {
        bool is_in_doubt = !live.error().is_permanent();
        // The right to read the twin goes with the twin, but may also be what the provider has trouble with. Trouble
        // may last for ever: the pod does not wait for it any longer than for a provider that was restored.
        if (!is_in_doubt && mapping_.is_troubled(ns) && local.is_deleting()) {
          auto& since = memory_of(local.key(), local.uid()).hidden_since;
          if (!since)
            context_.events.warning(local, kube::resources::pods, reasons::failed_deletion,
                                    "the pod may still run in namespace " + key.ns + " of cluster " +
                                        forging_.clusters.remote +
                                        ", which does not let this cluster look: it is removed here once it does, or "
                                        "in " +
                                        std::to_string(core::missing_patience / std::chrono::minutes(1)) + " minutes");
          since = since.value_or(context_.clock.now());
          is_in_doubt = context_.clock.now() - *since < core::missing_patience;
        }
        if (is_in_doubt) co_return kube::fail(std::move(live.error()), "looking for what is left of the pod");
      }
      if (live && core::is_reflected(*live, forging_.clusters) &&
          live->annotation(api::annotations::local_pod_uid) == local.uid())
        left_something = true;
    }
    memory_of(local.key(), local.uid()).looked_behind = true;
  }
  if (left_something) watch_withdrawn(ns);
  co_return kube::Result<void>();
}

void PodController::leave_withdrawn(const std::string& local) {
  const auto twin = twins_.find(local);
  if (twin == twins_.end() || !twin->second.withdrawn) return;
  const TwinWatch& watch = *twin->second.watch;
  if (!watch.is_resting && !watch.has_synced()) return;
  const auto holds = [this](const kube::Informer& watched) {
    for (const kube::Object& object : watched.objects())
      if (core::is_reflected(object, forging_.clusters) && is_of_this_node(&object)) return true;
    return false;
  };
  if (!watch.is_resting && (holds(*watch.shadows) || holds(*watch.pods))) return;
  left_[local] = twin->second.remote;
  tokens_.leave(local);
  twins_.erase(twin);
  if (const std::string* remote = mapping_.to_remote(local)) start_twin(local, *remote);
  for (const kube::ObjectKey& key : local_pods_->store().keys_in(local)) enqueue(key);
}

}  // namespace liqo::controllers
