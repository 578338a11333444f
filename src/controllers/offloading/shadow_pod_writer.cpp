#include "controllers/offloading/shadow_pod_writer.hpp"

#include "controllers/common/scopes.hpp"
#include "core/offloading/shadow_plan.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"
#include "telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// How many records that may wait are written at a time: few, because Pods that are being made come first.
constexpr int max_late_records = 8;

}  // namespace

ShadowPodWriter::ShadowPodWriter(Context context, TwinConsumers& consumers, OrderMemories& memories)
    : context_(context),
      consumers_(consumers),
      memories_(memories),
      shadows_(context.home.acquire({.resource = api::kinds::shadow_pods})),
      pods_(context.home.acquire(scope_of_consumer_pods())),
      records_(
          context,
          {.name = "shadowpod_record", .limits = {.workers = max_late_records, .workers_per_group = max_late_records}},
          [this](kube::WorkKey key) { return write_late(std::move(key)); }) {
  unrecorded_shown_ = context.metrics.sample(families::unrecorded_pods, {}, [this] {
    return context_.leadership.is_leader() ? double(unrecorded_.size()) : 0.0;
  });
}

asio::awaitable<kube::Result<bool>> ShadowPodWriter::record(kube::ObjectKey key, const kube::json::object& status) {
  KUBE_CO_TRY(patched, co_await kube::merge_patch(context_.home.api(), *shadows_, std::move(key),
                                                  {.body = kube::json::serialize(status),
                                                   .phase = "recording the phase",
                                                   .options = {.subresource = "status"}}));
  co_return patched.has_value();
}

void ShadowPodWriter::record_later(const kube::ObjectKey& key) {
  if (!unrecorded_.insert(key).second) return;
  busy_at_ = context_.clock.now();
  records_.enqueue_after({key.ns, key}, core::max_record_delay);
  records_.enqueue_after({}, core::record_quiet);
}

asio::awaitable<Outcome> ShadowPodWriter::write_late(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  if (key.name.empty()) {
    const kube::Duration left = busy_at_ + core::record_quiet - context_.clock.now();
    if (left > 0ms && !unrecorded_.empty()) co_return Outcome::again_after(left);
    for (const kube::ObjectKey& one : unrecorded_) records_.enqueue({one.ns, one});
    co_return Outcome::done();
  }
  if (!unrecorded_.contains(key)) co_return Outcome::done();
  const auto shadow = shadows_->find(key);
  const auto pod = pods_->find(key);
  core::ShadowPlan plan;
  if (shadow && pod)
    plan = core::plan_shadow_pod({*shadow, &*pod}, core::ShadowMemory(), nullptr, consumers_.policy_of(key.ns));
  const auto* keep = std::get_if<core::shadow_action::Keep>(&plan);
  const auto* due = keep ? core::find_step<core::shadow_action::Record>(*keep) : nullptr;
  if (due && due->may_wait) {
    KUBE_CO_TRYV(co_await record(key, due->status));
  }
  unrecorded_.erase(key);
  co_return Outcome::done();
}

asio::awaitable<kube::Result<void>> ShadowPodWriter::report(const kube::Object& shadow, std::string words) {
  auto patch = core::refusal_patch(shadow, words);
  if (!patch) co_return kube::Result<void>();
  const kube::ObjectKey key = shadow.key();
  if (!memories_[key].may_report(context_.clock.now())) co_return kube::Result<void>();
  co_return co_await write_reported(key, std::move(*patch));
}

asio::awaitable<kube::Result<void>> ShadowPodWriter::write_reported(kube::ObjectKey key, kube::json::object patch) {
  KUBE_CO_TRYV(
      co_await kube::merge_patch(context_.home.api(), *shadows_, std::move(key),
                                 {.body = kube::json::serialize(patch), .phase = "reporting why the pod is not made"}));
  co_return kube::Result<void>();
}

asio::awaitable<Outcome> ShadowPodWriter::refuse(const kube::Object& shadow, std::string words) {
  context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_create_pod, words);
  KUBE_CO_TRYV(co_await report(shadow, std::move(words)));
  co_return Outcome::again_after(30s);
}

}  // namespace liqo::controllers
