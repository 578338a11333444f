#include "controllers/offloading/pod_ends.hpp"

#include <utility>

#include "core/common/meta.hpp"
#include "core/offloading/ending.hpp"
#include "core/offloading/final_status.hpp"
#include "kube/client/find_live.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

namespace action = core::pod_action;
namespace reasons = api::reasons;

}  // namespace

void PodEnds::forget(const kube::ObjectKey& key) {
  node_.memory.forget(key);
  memories_.tokens.forget(key);
  memories_.warnings.forget(key);
}

void PodEnds::see_remote(const kube::ObjectKey& key, const kube::Change& change) {
  RememberedPod* known = node_.memory.find(key);
  if (!known || !known->ending.needs_phase()) return;
  const kube::Object* remote = change.now ? change.now : change.previous();
  if (remote && node_.see_placed(*known, *remote)) known->ending.see_change(*remote, !change.now);
}

std::optional<kube::Object> PodEnds::last_remote(const kube::Object& local) {
  const RememberedPod* known = node_.memory.find(local);
  if (!known || !local.is_deleting() || !core::needs_final_phase(local)) return std::nullopt;
  return known->ending.last();
}

asio::awaitable<kube::Result<void>> PodEnds::delete_shadow(kube::ObjectKey key, kube::ObjectKey remote_key,
                                                           action::DeleteShadow remove) {
  if (remove.confirm_first) {
    KUBE_CO_TRY(live, co_await kube::find_live(node_.context.home.api(), kube::resources::pods, key),
                "looking whether the pod is gone");
    const bool is_unowned = !live || (!remove.owner_uid.empty() && live->uid() != remove.owner_uid);
    if (!is_unowned) co_return kube::fail(kube::Errc::closed, "the cache of local pods lags behind");
  }
  kube::DeleteOptions options{.uid = remove.uid};
  if (remove.foreground) options.propagation = kube::Propagation::foreground;
  // Another ShadowPod of the name is looked at again: 409 is a failure here.
  auto removed = co_await node_.provider.api.remove(api::kinds::shadow_pods, remote_key, options);
  if (!removed && removed.error().is_not_found()) {
    if (auto* cache = twins_.cache_of(key.ns, remote_key.ns, &TwinWatch::shadows))
      cache->observe_gone(remote_key, remove.uid);
    co_return kube::Result<void>();
  }
  if (!removed) co_return kube::fail(std::move(removed.error()), "deleting the ShadowPod");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<bool>> PodEnds::confirm(kube::ObjectKey key, kube::ObjectKey remote_key,
                                                     std::string shadow_uid, std::string remote_uid) {
  bool right = true;
  for (const kube::Resource& kind : {api::kinds::shadow_pods, kube::resources::pods}) {
    const bool is_shadow = kind == api::kinds::shadow_pods;
    const std::string& known = is_shadow ? shadow_uid : remote_uid;
    auto live = co_await node_.provider.api.get(kind, remote_key);
    if (!live && !live.error().is_permanent())
      co_return kube::fail(std::move(live.error()), "looking for what the provider has of the pod");
    // Without rights nothing can be read, and an object of another owner shows nothing about this pod.
    if (live ? !core::is_reflected(*live, node_.forging.clusters) : !live.error().is_not_found()) continue;
    if ((live ? live->uid() : "") == known) continue;
    right = false;
    auto* cache = twins_.cache_of(key.ns, remote_key.ns, is_shadow ? &TwinWatch::shadows : &TwinWatch::pods);
    if (cache && live) cache->observe(std::move(*live));
    if (cache && !live) cache->observe_gone(remote_key, known);
  }
  co_return right;
}

asio::awaitable<kube::Result<void>> PodEnds::remove_local(const kube::Object& local) {
  const kube::ObjectKey key = local.key();
  const std::string uid(local.uid());
  if (core::needs_final_phase(local)) {
    const bool may_have_run = core::may_have_run(local, node_.memory.of(key, uid).plan);
    KUBE_CO_TRYV(
        co_await statuses_.write(local, core::forge_final_status(local, may_have_run, node_.context.clock.wall())));
    // The status may have been all that was missing.
    if (const auto latest = node_.local_pods->find(key);
        latest && latest->uid() == uid && core::is_only_held(*latest)) {
      forget(key);
      co_return kube::Result<void>();
    }
  }
  co_await node_.budget.home_writes.take({});
  auto removed = co_await kube::remove_object(
      node_.context.home.api(), kube::resources::pods, key,
      {.options = {.uid = uid, .grace_period_seconds = 0}, .phase = "removing the terminated pod"});
  forget(key);
  if (!removed) co_return std::unexpected(std::move(removed.error()));
  // Until the watch shows the removal, any other event of the pod would have it removed again.
  if (const auto known = node_.local_pods->find(key);
      known && kube::array_at(known->metadata(), {"finalizers"}).empty())
    node_.local_pods->observe_gone(key, uid);
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> PodEnds::evict_local(kube::Object local, kube::ObjectKey remote_key,
                                                         action::EvictLocal action) {
  // The cache is stale if the provider does not answer: the remote pod may have ended.
  KUBE_CO_TRY(live, co_await kube::find_live(node_.provider.api, kube::resources::pods, remote_key),
              "reading the remote pod");
  const bool is_ending = live && live->uid() == action.remote_uid && live->is_deleting();
  if (!is_ending) {
    auto* cache = twins_.cache_of(std::string(local.ns()), remote_key.ns, &TwinWatch::pods);
    if (cache && live) cache->observe(std::move(*live));
    if (cache && !live) cache->observe_gone(remote_key, action.remote_uid);
    co_return kube::Result<void>();
  }
  co_await node_.budget.home_writes.take({});
  kube::DeleteOptions options{.uid = action.uid};
  // Without a grace period the pod would be gone at once, and its successor would run at the same time as the remote
  // pod.
  if (core::own_grace(local.spec()) == 0) options.grace_period_seconds = 1;
  KUBE_CO_TRY(removed, co_await kube::remove_object(
                           node_.context.home.api(), kube::resources::pods, local.key(),
                           {.options = options, .phase = "evicting a pod whose remote pod does not end"}));
  if (removed)
    node_.warn(local, reasons::remote_stuck,
               "the pod is to end in cluster " + node_.cluster() + " and has not for more than a minute after its " +
                   "grace time, because its node there is probably dead: it is deleted here, so that it "
                   "can be replaced, and " +
                   "what is to have the same name waits until that cluster has removed the old one");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> PodEnds::send_grace(kube::ObjectKey key, kube::Object shadow,
                                                        std::int64_t seconds) {
  auto patched = co_await node_.provider.api.patch(
      api::kinds::shadow_pods, shadow.key(),
      {kube::PatchType::merge, kube::json::serialize(core::grace_patch(shadow, seconds))});
  if (!patched && !patched.error().is_permanent())
    co_return kube::fail(std::move(patched.error()), "sending how long the pod may take to end");
  const bool is_noted = patched && core::ordered_grace(*patched) == seconds;
  if (RememberedPod* known = node_.memory.find(key); known && !is_noted) known->ending.give_up(seconds);
  auto* cache = twins_.cache_of(key.ns, shadow.ns(), &TwinWatch::shadows);
  if (patched && cache) cache->observe(std::move(*patched));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
