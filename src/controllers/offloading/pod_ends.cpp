// How the pods of a virtual node end.
#include <algorithm>

#include "controllers/offloading/pod.hpp"
#include "core/common/meta.hpp"
#include "core/offloading/ending.hpp"
#include "core/offloading/final_status.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

namespace action = core::pod_action;
namespace reasons = api::reasons;

/// Bytes of a remote pod that are remembered beyond its end; a container has one or two KiB of them.
constexpr std::size_t max_ended = 32 << 10;

}  // namespace

void PodController::see_ending(Memory& memory, const kube::Object* remote) const {
  if (!remote || !remote->is_deleting()) {
    memory.ending.clear();
    memory.plan.remote_ending_for = kube::Duration::zero();
    return;
  }
  const kube::TimePoint now = context_.clock.now();
  if (std::exchange(memory.ending, std::string(remote->uid())) != remote->uid()) memory.ending_since = now;
  memory.plan.remote_ending_for = now - memory.ending_since;
}

asio::awaitable<kube::Result<void>> PodController::delete_shadow(kube::ObjectKey key, kube::ObjectKey remote_key,
                                                                 action::DeleteShadow remove) {
  if (remove.confirm_first) {
    auto live = co_await context_.home.api().get(kube::resources::pods, key);
    if (!live && !live.error().is_not_found())
      co_return kube::fail(std::move(live.error()), "looking whether the pod is gone");
    const bool is_unowned = !live || (!remove.owner_uid.empty() && live->uid() != remove.owner_uid);
    if (!is_unowned) co_return kube::fail(kube::Errc::closed, "the cache of local pods lags behind");
  }
  kube::DeleteOptions options{.uid = remove.uid};
  if (remove.foreground) options.propagation = kube::Propagation::foreground;
  // Another ShadowPod of the name is looked at anew: 409 is a failure here.
  auto removed = co_await provider_.api.remove(api::kinds::shadow_pods, remote_key, options);
  if (!removed && removed.error().is_not_found()) {
    if (auto* cache = cache_of(key.ns, remote_key.ns, &TwinWatch::shadows)) cache->observe_gone(remote_key, remove.uid);
    co_return kube::Result<void>();
  }
  if (!removed) co_return kube::fail(std::move(removed.error()), "deleting the ShadowPod");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<bool>> PodController::confirm(kube::ObjectKey key, kube::ObjectKey remote_key,
                                                           std::string shadow_uid, std::string remote_uid) {
  bool right = true;
  for (const kube::Resource& kind : {api::kinds::shadow_pods, kube::resources::pods}) {
    const bool is_shadow = kind == api::kinds::shadow_pods;
    const std::string& known = is_shadow ? shadow_uid : remote_uid;
    auto live = co_await provider_.api.get(kind, remote_key);
    if (!live && !live.error().is_permanent())
      co_return kube::fail(std::move(live.error()), "looking for what the provider has of the pod");
    // Without rights nothing can be read, and an object of somebody else says nothing about this pod.
    if (live ? !core::is_reflected(*live, forging_.clusters) : !live.error().is_not_found()) continue;
    if ((live ? live->uid() : "") == known) continue;
    right = false;
    auto* cache = cache_of(key.ns, remote_key.ns, is_shadow ? &TwinWatch::shadows : &TwinWatch::pods);
    if (cache && live) cache->observe(std::move(*live));
    if (cache && !live) cache->observe_gone(remote_key, known);
  }
  co_return right;
}

void PodController::see_remote(const kube::ObjectKey& key, const kube::Change& change) {
  const auto known = memory_.find(key);
  if (known == memory_.end() || !known->second.needs_final_phase) return;
  const kube::Object* remote = change.now ? change.now : change.previous();
  if (!remote || !see_placed(known->second, *remote)) return;
  known->second.ended.clear();
  if (change.now || !core::is_over(*remote)) return;
  // It has left the cache, and with it the provider's budget. What is too long is told as an end that nobody knows.
  if (std::string text = remote->text(); text.size() <= max_ended) known->second.ended = std::move(text);
}

bool PodController::see_placed(Memory& memory, const kube::Object& remote) const {
  if (!core::is_reflected(remote, forging_.clusters) ||
      remote.annotation(api::annotations::local_pod_uid) != memory.uid)
    return false;
  const bool has_node = !kube::string_at(remote.spec(), {"nodeName"}).empty();
  memory.plan.remote_placed = has_node || memory.plan.remote_placed.value_or(false);
  return true;
}

std::optional<kube::Object> PodController::ended_remote(const kube::Object& local) const {
  const auto known = memory_.find(local.key());
  if (known == memory_.end() || known->second.uid != local.uid() || !local.is_deleting() ||
      !core::needs_final_phase(local))
    return std::nullopt;
  if (known->second.ended.empty()) return std::nullopt;
  auto ended = kube::Object::parse(known->second.ended);
  return ended ? std::optional(std::move(*ended)) : std::nullopt;
}

asio::awaitable<kube::Result<void>> PodController::remove_local(const kube::Object& local) {
  const kube::ObjectKey key = local.key();
  const std::string uid(local.uid());
  if (core::needs_final_phase(local)) {
    const bool may_have_run = core::may_have_run(local, memory_of(key, uid).plan);
    auto written = co_await write_status(local, core::forge_final_status(local, may_have_run, context_.clock.wall()));
    if (!written) co_return std::unexpected(std::move(written.error()));
    // The status may have been all that was missing.
    if (const auto latest = local_pods_->find(key); latest && latest->uid() == uid && core::is_only_held(*latest)) {
      forget(key);
      co_return kube::Result<void>();
    }
  }
  co_await budget_.home_writes.take({});
  auto removed = co_await kube::remove_object(
      context_.home.api(), kube::resources::pods, key,
      {.options = {.uid = uid, .grace_period_seconds = 0}, .phase = "removing the terminated pod"});
  forget(key);
  if (!removed) co_return std::unexpected(std::move(removed.error()));
  // Until the watch tells of the removal, any other event of the pod would have it removed again.
  if (const auto known = local_pods_->find(key); known && kube::array_at(known->metadata(), {"finalizers"}).empty())
    local_pods_->observe_gone(key, uid);
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> PodController::evict_local(kube::Object local, kube::ObjectKey remote_key,
                                                               action::EvictLocal action) {
  // The cache is old where the provider does not answer: the remote pod may have ended.
  auto live = co_await provider_.api.get(kube::resources::pods, remote_key);
  if (!live && !live.error().is_not_found()) co_return kube::fail(std::move(live.error()), "reading the remote pod");
  const bool is_ending = live && live->uid() == action.remote_uid && live->is_deleting();
  if (!is_ending) {
    auto* cache = cache_of(std::string(local.ns()), remote_key.ns, &TwinWatch::pods);
    if (cache && live) cache->observe(std::move(*live));
    if (cache && !live) cache->observe_gone(remote_key, action.remote_uid);
    co_return kube::Result<void>();
  }
  co_await budget_.home_writes.take({});
  kube::DeleteOptions options{.uid = action.uid};
  // Without a grace period the pod would be gone at once, and its successor would run beside the remote pod.
  if (core::own_grace(local.spec()) == 0) options.grace_period_seconds = 1;
  auto removed =
      co_await kube::remove_object(context_.home.api(), kube::resources::pods, local.key(),
                                   {.options = options, .phase = "evicting a pod whose remote pod does not end"});
  if (!removed) co_return std::unexpected(std::move(removed.error()));
  if (*removed)
    context_.events.warning(local, kube::resources::pods, reasons::remote_stuck,
                            "the pod is to end in cluster " + forging_.clusters.remote +
                                " and has not for more than a minute after its " +
                                "grace time, because its node there is probably dead: it is deleted here, so that it "
                                "can be replaced, and " +
                                "what is to have the same name waits until that cluster has removed the old one");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> PodController::tell_grace(kube::ObjectKey key, kube::Object shadow,
                                                              std::int64_t seconds) {
  auto patched =
      co_await provider_.api.patch(api::kinds::shadow_pods, shadow.key(),
                                   {kube::PatchType::merge, kube::json::serialize(core::grace_patch(shadow, seconds))});
  if (!patched && !patched.error().is_permanent())
    co_return kube::fail(std::move(patched.error()), "telling how long the pod may take to end");
  const bool is_told = patched && core::ordered_grace(*patched) == seconds;
  const auto known = memory_.find(key);
  if (!is_told && known != memory_.end()) known->second.plan.grace_given_up = seconds;
  auto* cache = cache_of(key.ns, shadow.ns(), &TwinWatch::shadows);
  if (patched && cache) cache->observe(std::move(*patched));
  co_return kube::Result<void>();
}

kube::Duration PodController::await_ending(const kube::Object& local, std::int64_t seconds) {
  Memory& memory = memory_of(local.key(), local.uid());
  const kube::TimePoint now = context_.clock.now();
  if (std::exchange(memory.grace_told, seconds) != seconds) memory.grace_told_at = now;
  const kube::Duration left = core::grace_patience - (now - memory.grace_told_at);
  if (left <= kube::Duration::zero()) memory.plan.grace_given_up = seconds;
  return std::max(left, kube::Duration::zero());
}

}  // namespace liqo::controllers
