#include "liqo/controllers/shadow_pod.hpp"

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/order.hpp"
#include "liqo/core/pod_plan.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

constexpr kube::Duration unseen_time = 5s;

}  // namespace

ShadowPodController::ShadowPodController(const asio::any_io_executor& executor, Context context)
    : context_(context),
      shadows_(context.home.acquire({.resource = api::kinds::shadow_pods})),
      pods_(context.home.acquire({.resource = kube::resources::pods,
                                  .selection = {.label_selector = std::string(api::labels::managed_by) + "=" +
                                                                  std::string(api::labels::managed_by_shadow_pod)}})),
      controller_(executor, context.clock, context.random, context.metrics,
                  {.name = "shadowpod",
                   .limits = {.workers = 128, .workers_per_group = 64},
                   .ready = [this] { return has_synced(); },
                   .fill = [this] { enqueue_all(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  const auto changed = [this](const kube::ObjectKey& key) { enqueue(key); };
  const auto synced = [this] { enqueue_all(); };
  shadows_.subscribe(changed, synced);
  pods_.subscribe(changed, synced);
}

void ShadowPodController::enqueue_all() {
  for (const kube::ObjectKey& key : shadows_->store().keys()) enqueue(key);
}

void ShadowPodController::enqueue(const kube::ObjectKey& key) {
  // A twin namespace belongs to one consumer, so the namespace is the unit of fairness.
  controller_.enqueue({key.ns, key});
}

asio::awaitable<Outcome> ShadowPodController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto shadow = shadows_->find(key);
  if (!shadow) {
    // Its pod is the garbage collector's.
    memory_.erase(key);
    co_return Outcome::done();
  }
  auto pod = pods_->find(key);
  Memory& memory = memory_[key];
  if (memory.uid != shadow->uid()) memory = Memory{.uid = std::string(shadow->uid())};
  if (pod) {
    memory.plan.pod_created = false;
    memory.plan.pod_seen = true;
    if (core::has_started(*pod)) memory.plan.pod_started = true;
  }
  memory.plan.create_in_doubt = context_.clock.now() < memory.in_doubt_until;
  kube::Api& home = context_.home.api();

  core::ShadowPlan plan = core::plan_shadow_pod(*shadow, pod ? &*pod : nullptr, memory.plan);
  if (plan.remove_pod) {
    auto removed = co_await home.remove(kube::resources::pods, key, {.uid = std::string(pod->uid())});
    if (!removed && !removed.error().is_not_found() && !removed.error().is_conflict())
      co_return Outcome::retry(std::move(removed.error()).in("removing the pod of a ShadowPod that is deleted"));
    co_return Outcome::done();
  }
  if (plan.await_create) co_return Outcome::again_after(memory.in_doubt_until - context_.clock.now());
  if (plan.await_pod) {
    const kube::Duration waited = context_.clock.now() - memory.created_at;
    if (waited < unseen_time) co_return Outcome::again_after(unseen_time - waited);
    auto live = co_await home.get(kube::resources::pods, key);
    if (live) {
      pods_->observe(std::move(*live));
    } else if (live.error().is_not_found()) {
      memory_[key].plan.pod_created = false;
    } else {
      co_return Outcome::retry(std::move(live.error()));
    }
    co_return Outcome::again_after(0ms);
  }
  if (plan.create && plan.confirm_first) {
    auto live = co_await home.get(api::kinds::shadow_pods, key);
    if (!live && !live.error().is_not_found())
      co_return Outcome::retry(std::move(live.error()).in("reading the ShadowPod"));
    // Its own event will bring it back, or take it from the cache.
    if (!live || live->uid() != shadow->uid() || live->is_deleting()) co_return Outcome::done();
  }
  if (plan.create) {
    const kube::TimePoint sent_at = context_.clock.now();
    auto created = co_await home.create(kube::resources::pods, *plan.create);
    if (!created && core::may_be_carried_out(created.error())) {
      Memory& now = memory_[key];
      now.plan.create_tried = true;
      if (created.error().code() == kube::Errc::timeout) now.in_doubt_until = sent_at + core::create_doubt;
    }
    if (created) {
      Memory& now = memory_[key];
      now.plan.pod_created = true;
      now.created_at = context_.clock.now();
      pods_->observe(std::move(*created));
    } else if (created.error().is_already_exists()) {
      // Ours and not in the cache yet, or somebody else's: its labels and owner tell.
      auto live = co_await home.get(kube::resources::pods, key);
      if (!live) co_return Outcome::retry(std::move(live.error()));
      if (live->label(api::labels::managed_by) == api::labels::managed_by_shadow_pod) {
        pods_->observe(std::move(*live));
        co_return Outcome::again_after(0ms);
      }
      plan = core::plan_shadow_pod(*shadow, &*live, core::ShadowMemory());
    } else {
      kube::Failure failure = std::move(created.error()).in("creating the pod");
      if (failure.is_permanent())
        context_.events.warning(*shadow, api::kinds::shadow_pods, api::reasons::failed_create_pod, failure.text());
      co_return Outcome::retry(std::move(failure));
    }
  }
  if (!plan.refusal.empty()) {
    context_.events.warning(*shadow, api::kinds::shadow_pods, api::reasons::failed_create_pod, plan.refusal);
    co_return Outcome::again_after(30s);
  }
  if (plan.patch) {
    auto patched = co_await home.patch(kube::resources::pods, key, kube::PatchType::strategic_merge,
                                       kube::json::serialize(*plan.patch));
    if (!patched && !patched.error().is_not_found()) {
      kube::Failure failure = std::move(patched.error()).in("updating the pod");
      if (failure.is_permanent())
        context_.events.warning(*shadow, api::kinds::shadow_pods, api::reasons::failed_update_pod, failure.text());
      co_return Outcome::retry(std::move(failure));
    }
    if (patched) pods_->observe(std::move(*patched));
  }
  if (plan.status) {
    auto patched = co_await home.patch(api::kinds::shadow_pods, key, kube::PatchType::merge,
                                       kube::json::serialize(*plan.status), {.subresource = "status"});
    if (!patched && !patched.error().is_not_found())
      co_return Outcome::retry(std::move(patched.error()).in("recording the phase"));
    if (patched) shadows_->observe(std::move(*patched));
  }
  co_return Outcome::done();
}

}  // namespace liqo::controllers
