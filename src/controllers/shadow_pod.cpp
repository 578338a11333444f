#include "liqo/controllers/shadow_pod.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <limits>

#include "known.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/task_group.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "liqo/core/admission/tenant_index.hpp"
#include "liqo/core/forge/pod_status.hpp"
#include "liqo/core/forge/provider_pod.hpp"
#include "liqo/core/forge/room.hpp"
#include "liqo/core/mapping/network_configuration.hpp"
#include "liqo/core/namespace/twin_pod_bounds.hpp"
#include "liqo/core/namespace/twin_quota.hpp"
#include "liqo/core/order.hpp"
#include "liqo/core/pod_plan.hpp"
#include "liqo/telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

constexpr kube::Duration unseen_time = 5s;
/// At least this long between two writes of why a pod is not made.
constexpr kube::Duration tell_interval = 30s;
/// A share of what is granted follows the pods that need it within moments: only who waits longer is told.
constexpr kube::Duration share_patience = 3s, counting_patience = 30s;
/// How often it is told that a pod finds no room there.
constexpr kube::Duration told_short_pause = 1min;
constexpr kube::Duration cache_pause = 200ms;
/// What the cluster has refused to resize is tried again: its nodes and bounds change.
constexpr kube::Duration resize_pause = 1min;
/// So many are tried when something has ended, which makes room for some.
constexpr std::size_t woken_by_an_end = 32;
/// Records that nobody waits for and that are written at a time: few, for what is on its way comes first.
constexpr int late_records = 8;
/// How far the clock of the API server may be from this one.
constexpr kube::Duration clock_slack = 5s;

}  // namespace

ShadowPodController::ShadowPodController(Context context)
    : context_(context),
      shadows_(context.home.acquire({.resource = api::kinds::shadow_pods})),
      pods_(context.home.acquire({.resource = kube::resources::pods,
                                  .selection = {.label_selector = std::string(api::labels::managed_by) + "=" +
                                                                  std::string(api::labels::managed_by_shadow_pod)}})),
      namespaces_(context_.home.acquire({.resource = kube::resources::namespaces})),
      quotas_(context_.home.acquire(
          {.resource = api::kinds::resource_quotas, .selection = {.label_selector = core::twin_quota_selector()}})),
      configurations_(context_.home.acquire({.resource = api::kinds::configurations})),
      controller_(context,
                  {.name = "shadowpod",
                   .limits = {.workers = 128, .workers_per_group = 64},
                   .ready = [this] { return has_synced(); },
                   .fill = [this] { enqueue_all(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      records_(context,
               {.name = "shadowpod_record", .limits = {.workers = late_records, .workers_per_group = late_records}},
               [this](kube::WorkKey key) { return record(std::move(key)); }) {
  const auto changed = [this](const kube::ObjectKey& key) { enqueue(key); };
  const auto synced = [this] { enqueue_all(); };
  shadows_.subscribe(changed, synced);
  pods_.subscribe(changed, synced);
  namespaces_->add_index(std::string(core::admission::tenants_by_cluster), core::admission::index_tenant_namespace);
  namespaces_.subscribe(
      [this](const kube::ObjectKey&) {
        policies_.clear();
        for (const auto& [twin, keys] : std::map(short_)) wake(twin, keys.size());
      },
      synced);
  quotas_.follow([this](const kube::Change& quota) { see_bounds(quota); });
  unrecorded_shown_ = context.metrics.sample(families::unrecorded_pods, {}, [this] {
    return context_.leadership.is_leader() ? double(unrecorded_.size()) : 0.0;
  });
}

asio::awaitable<void> ShadowPodController::run() {
  begun_ = context_.clock.wall();
  unrecorded_.clear();
  kube::async::TaskGroup group(co_await asio::this_coro::executor);
  group.spawn(controller_.run());
  group.spawn(records_.run());
  co_await kube::async::finally(group.join(), group.stop());
}

void ShadowPodController::record_later(const kube::ObjectKey& key) {
  if (!unrecorded_.insert(key).second) return;
  busy_at_ = context_.clock.now();
  records_.enqueue_after({key.ns, key}, core::record_limit);
  records_.enqueue_after({}, core::record_quiet);
}

asio::awaitable<Outcome> ShadowPodController::record(kube::WorkKey work) {
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
  if (shadow && pod) plan = core::plan_shadow_pod(*shadow, &*pod, core::ShadowMemory(), nullptr, policy_of(key.ns));
  if (plan.status && plan.status_may_wait) {
    auto patched = co_await kube::merge_patch(context_.home.api(), *shadows_, key, kube::json::serialize(*plan.status),
                                              "recording the phase", {.subresource = "status"});
    if (!patched) co_return Outcome::retry(std::move(patched.error()));
  }
  unrecorded_.erase(key);
  co_return Outcome::done();
}

bool ShadowPodController::is_inherited(const kube::Object& shadow) const {
  const auto created = kube::parse_time(shadow.creation_timestamp());
  return !created || *created <= begun_ + clock_slack;
}

void ShadowPodController::see_bounds(const kube::Change& quota) {
  const kube::ObjectKey& key = quota.key;
  if (key.name != core::twin_pods_quota_name) return;
  if (!quota.now) {
    bounds_.erase(key.ns);
    wake(key.ns, std::numeric_limits<std::size_t>::max());
    return;
  }
  core::TwinPods said;
  core::read_twin_quota(*quota.now, said);
  Bounds now{.hard = kube::json::serialize(core::write_resources(said.admitted)),
             .used = said.used,
             .counted = said.admitted.contains("pods") && said.used.contains("pods")};
  const Bounds before = std::exchange(bounds_[key.ns], now);
  const bool is_less = std::ranges::any_of(
      before.used, [&](const auto& entry) { return core::amount(now.used, entry.first) < entry.second; });
  if (before.hard != now.hard || before.counted != now.counted)
    wake(key.ns, std::numeric_limits<std::size_t>::max());
  else if (is_less)
    wake(key.ns, woken_by_an_end);
}

void ShadowPodController::wake(const std::string& twin, std::size_t most) {
  const auto found = short_.find(twin);
  if (found == short_.end()) return;
  for (std::set<kube::ObjectKey>& keys = found->second; !keys.empty() && most > 0; --most) {
    if (const auto known = memory_.find(*keys.begin()); known != memory_.end()) known->second.resize_again_at = {};
    enqueue(*keys.begin());
    keys.erase(keys.begin());
  }
  if (found->second.empty()) short_.erase(found);
}

void ShadowPodController::stop_waiting(const kube::ObjectKey& key) {
  const auto waiting = short_.find(key.ns);
  if (waiting == short_.end()) return;
  waiting->second.erase(key);
  if (waiting->second.empty()) short_.erase(waiting);
}

const core::admission::PodPolicy& ShadowPodController::policy_of(const std::string& twin) {
  const auto [at, is_new] = policies_.try_emplace(twin);
  if (!is_new) return at->second;
  const auto ns = namespaces_->find({{}, twin});
  const std::string consumer(ns ? ns->label(api::labels::remote_cluster_id) : "");
  if (consumer.empty()) return at->second;
  for (const kube::ObjectKey& key : namespaces_->store().keys(core::admission::tenants_by_cluster, consumer))
    if (const auto tenant = namespaces_->find(key))
      at->second = core::admission::read_pod_policy(tenant->annotation(api::annotations::pod_policy))
                       .value_or(core::admission::PodPolicy());
  return at->second;
}

kube::Result<core::IpMapping> ShadowPodController::api_server_mapping(const kube::Object& shadow) const {
  const std::vector<std::string> addresses = core::home_api_server_addresses(shadow);
  const auto ns = namespaces_->find({{}, std::string(shadow.ns())});
  const std::string consumer(ns ? ns->label(api::labels::remote_cluster_id) : "");
  std::vector<kube::Object> configurations;
  for (const kube::ObjectKey& tenant : namespaces_->store().keys(core::admission::tenants_by_cluster, consumer))
    for (kube::Object& found : configurations_->objects_in(tenant.name))
      if (found.label(api::labels::remote_cluster_id) == consumer) configurations.push_back(std::move(found));
  auto mapping = core::read_network_mapping(configurations);
  // One that its administrator has said, such as a public one, needs no network between the two.
  const bool needs_network = std::ranges::any_of(
      addresses, [&](const std::string& address) { return core::is_in_range_of_peer(configurations, address); });
  if (!mapping && !needs_network) return core::IpMapping();
  return mapping;
}

void ShadowPodController::enqueue_all() {
  for (const kube::ObjectKey& key : shadows_->store().keys()) enqueue(key);
  // Also those that have lost their ShadowPod, to be released.
  for (const kube::ObjectKey& key : pods_->store().keys()) enqueue(key);
}

void ShadowPodController::enqueue(const kube::ObjectKey& key) {
  // A twin namespace belongs to one consumer, so the namespace is the unit of fairness.
  controller_.enqueue({key.ns, key});
}

asio::awaitable<kube::Result<void>> ShadowPodController::release(kube::Object pod, bool confirm_first) {
  const kube::ObjectKey key = pod.key();
  const std::string uid(pod.uid());
  // The watch tells when it has gone; a second patch would find nothing.
  if (!core::is_tracked(pod) || released_[key] == uid) co_return kube::Result<void>();
  kube::Api& home = context_.home.api();
  if (confirm_first) {
    auto live = co_await home.get(api::kinds::shadow_pods, key);
    if (!live && !live.error().is_not_found())
      co_return kube::fail(std::move(live.error()), "reading the ShadowPod of a pod");
    const auto controller = pod.controller();
    if (live && controller && controller->uid == live->uid()) co_return kube::Result<void>();
  }
  auto patched = co_await home.patch(kube::resources::pods, key, kube::PatchType::strategic_merge,
                                     kube::json::serialize(core::release_patch(pod)));
  if (!patched && !patched.error().is_not_found())
    co_return kube::fail(std::move(patched.error()), "releasing the pod");
  if (patched) released_[key] = uid;
  // The last finalizer of a deleted pod ends it: the answer would bring it back into the cache.
  if (patched && !patched->is_deleting()) pods_->observe(std::move(*patched));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> ShadowPodController::tell(const kube::Object& shadow, std::string words) {
  auto patch = core::refusal_patch(shadow, words);
  if (!patch) co_return kube::Result<void>();
  const kube::ObjectKey key = shadow.key();
  // Each write makes the ShadowPod due at once: words that are others each time would ask again and again.
  Memory& memory = memory_[key];
  const kube::TimePoint now = context_.clock.now();
  if (memory.told_at && now - *memory.told_at < tell_interval) co_return kube::Result<void>();
  memory.told_at = now;
  co_return co_await write_told(key, std::move(*patch));
}

asio::awaitable<kube::Result<void>> ShadowPodController::write_told(kube::ObjectKey key, kube::json::object patch) {
  auto patched = co_await kube::merge_patch(context_.home.api(), *shadows_, std::move(key),
                                            kube::json::serialize(patch), "telling why the pod is not made");
  if (!patched) co_return std::unexpected(std::move(patched.error()));
  co_return kube::Result<void>();
}

asio::awaitable<Outcome> ShadowPodController::take_refusal(kube::Object shadow, kube::Failure failure) {
  const kube::ObjectKey key = shadow.key();
  const bool is_short = failure.is_forbidden() && failure.text().contains(core::twin_pods_quota_name);
  if (is_short) {
    Memory& memory = memory_[key];
    if (!memory.waits_since) memory.waits_since = context_.clock.now();
    if (context_.clock.now() - *memory.waits_since < share_patience) co_return Outcome::again_after(share_patience);
    // Its figures change all the time, and each would be another Event.
    const kube::TimePoint now = context_.clock.now();
    const bool was_told = memory.told_short && now - *memory.told_short < told_short_pause;
    if (was_told) co_return Outcome::retry(std::move(failure));
    memory.told_short = now;
  }
  if (failure.is_permanent()) {
    context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_create_pod, failure.text());
    auto told = co_await tell(shadow, core::refusal_words(failure));
    if (!told) co_return Outcome::retry(std::move(told.error()));
  }
  co_return Outcome::retry(std::move(failure));
}

asio::awaitable<kube::Result<void>> ShadowPodController::add_ephemeral(kube::Object shadow, kube::Object pod,
                                                                       core::EphemeralAddition addition) {
  kube::Api& home = context_.home.api();
  auto patched = co_await home.patch(kube::resources::pods, pod.key(), kube::PatchType::strategic_merge,
                                     kube::json::serialize(addition.patch), {.subresource = "ephemeralcontainers"});
  // For lack of our own rights nothing is noted: they may come.
  if (!patched && patched.error().is_permanent() && !patched.error().is_not_found() &&
      !core::is_for_lack_of_rights(patched.error())) {
    const std::string words = core::refusal_words(patched.error());
    context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_update_pod,
                            "The ephemeral container " + addition.name + " is refused: " + words);
    patched = co_await home.patch(kube::resources::pods, pod.key(), kube::PatchType::strategic_merge,
                                  kube::json::serialize(core::ephemeral_refusal_patch(pod, addition.name, words)));
    // Where there is no room for the note, the next change of the Pod asks again.
    if (!patched && patched.error().is_permanent()) co_return kube::Result<void>();
  }
  if (!patched && !patched.error().is_not_found())
    co_return kube::fail(std::move(patched.error()), "adding an ephemeral container to the pod");
  if (patched) pods_->observe(std::move(*patched));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> ShadowPodController::resize(kube::Object shadow,
                                                                                         kube::Object pod,
                                                                                         core::PodResize plan) {
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key = shadow.key();
  const std::string digest = core::resources_digest(api::ShadowPod(shadow).pod_spec());
  if (const Memory& memory = memory_[key]; memory.resize_refused == digest)
    if (const kube::Duration left = memory.resize_again_at - context_.clock.now(); left > 0ms) {
      if (memory.resize_short) short_[key.ns].insert(key);
      co_return left;
    }
  if (plan.patch && !plan.is_begun) {
    plan.done = std::move(plan.begin);
  } else if (plan.patch) {
    auto patched = co_await home.patch(kube::resources::pods, key, kube::PatchType::strategic_merge,
                                       kube::json::serialize(*plan.patch), {.subresource = "resize"});
    // What was made of it on the way stays, and is noted at once: it would be asked for with each change otherwise.
    if (patched) {
      memory_[key].resize_refused.clear();
      pods_->observe(std::move(*patched));
    } else {
      const kube::Failure& failure = patched.error();
      const bool is_unknown = core::is_without_resize(failure);
      if (failure.is_not_found() && !is_unknown) co_return std::nullopt;
      if (!failure.is_permanent()) co_return kube::fail(std::move(patched.error()), "resizing the pod");
      const std::string words = is_unknown ? std::string(core::without_resize) : core::refusal_words(failure);
      Memory& memory = memory_[key];
      memory.resize_again_at = context_.clock.now() + resize_pause;
      // Once: how the words change while it is refused the note tells.
      if (std::exchange(memory.resize_refused, digest) != digest)
        context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_update_pod,
                                "The resize is refused: " + words);
      memory.resize_short = failure.is_forbidden() && failure.text().contains(core::twin_pods_quota_name);
      if (memory.resize_short) short_[key.ns].insert(key);
      auto note = core::resize_refusal_patch(shadow, pod, words);
      if (!note) co_return resize_pause;
      plan.done = std::move(*note);
    }
  }
  auto noted = co_await home.patch(kube::resources::pods, key, kube::PatchType::strategic_merge,
                                   kube::json::serialize(plan.done));
  if (!noted && !noted.error().is_not_found())
    co_return kube::fail(std::move(noted.error()), "noting what the pod was resized to");
  if (noted) pods_->observe(std::move(*noted));
  co_return std::nullopt;
}

asio::awaitable<Outcome> ShadowPodController::await_bounds(kube::Object shadow) {
  const kube::ObjectKey key = shadow.key();
  short_[key.ns].insert(key);
  Memory& memory = memory_[key];
  if (!memory.waits_since) memory.waits_since = context_.clock.now();
  const kube::Duration waited = context_.clock.now() - *memory.waits_since;
  if (waited < counting_patience) co_return Outcome::again_after(counting_patience - waited);
  auto told = co_await tell(shadow, "nobody counts the pods of its namespace (ResourceQuota " +
                                        std::string(core::twin_pods_quota_name) +
                                        "), which the provider's liqod and kube-controller-manager do");
  if (!told) co_return Outcome::retry(std::move(told.error()));
  co_return Outcome::again_after(counting_patience);
}

asio::awaitable<Outcome> ShadowPodController::release_orphan(kube::ObjectKey key, std::string last) {
  // The pod itself is the garbage collector's.
  auto pod = pods_->find(key);
  if (!pod) co_return Outcome::done();
  const auto controller = pod->controller();
  const bool was_seen = controller && controller->uid == last;
  auto released = co_await release(std::move(*pod), !was_seen);
  if (!released) co_return Outcome::retry(std::move(released.error()));
  co_return Outcome::done();
}

asio::awaitable<Outcome> ShadowPodController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto shadow = shadows_->find(key);
  auto pod = pods_->find(key);
  if (!pod) released_.erase(key);
  stop_waiting(key);
  if (!shadow) {
    std::string last;
    if (const auto known = memory_.find(key); known != memory_.end()) last = known->second.uid;
    unrecorded_.erase(key);
    auto outcome = co_await release_orphan(key, std::move(last));
    if (!outcome.failure()) memory_.erase(key);
    co_return outcome;
  }
  Memory& memory = memory_[key];
  if (memory.uid != shadow->uid()) memory = Memory{.uid = std::string(shadow->uid())};
  if (pod) core::see_pod(memory.plan, *shadow, *pod);
  const kube::Duration awaited = context_.clock.now() - memory.awaited_since;
  memory.plan.node_silent = pod && memory.awaited == pod->uid() && awaited >= core::node_patience;
  memory.plan.create_in_doubt = context_.clock.now() < memory.in_doubt_until;
  memory.plan.inherited = is_inherited(*shadow);
  kube::Api& home = context_.home.api();

  core::IpMapping mapping;
  if (!pod && !shadow->is_deleting() && !core::home_api_server_addresses(*shadow).empty()) {
    if (!is_known_or_forbidden(*configurations_)) co_return Outcome::again_after(cache_pause);
    auto read = api_server_mapping(*shadow);
    if (!read) {
      auto told =
          co_await tell(*shadow, "the address of the API server of its home is not known here: " + read.error().text());
      if (!told) co_return Outcome::retry(std::move(told.error()));
      co_return Outcome::again_after(30s);
    }
    mapping = std::move(*read);
  }
  core::ShadowPlan plan =
      core::plan_shadow_pod(*shadow, pod ? &*pod : nullptr, memory.plan, &mapping, policy_of(key.ns));
  if (plan.release && (shadow->is_deleting() || plan.confirm_first)) {
    auto released = co_await release(*pod, plan.confirm_first);
    if (!released) co_return Outcome::retry(std::move(released.error()));
  }
  if (plan.remove_pod) {
    auto removed = co_await home.remove(kube::resources::pods, key,
                                        {.uid = std::string(pod->uid()), .grace_period_seconds = plan.remove_grace});
    if (!removed && !removed.error().is_not_found() && !removed.error().is_conflict())
      co_return Outcome::retry(std::move(removed.error()).in("removing the pod of a ShadowPod that is deleted"));
    co_return Outcome::done();
  }
  if (plan.await_create) co_return Outcome::again_after(memory_[key].in_doubt_until - context_.clock.now());
  if (plan.await_pod) {
    const kube::Duration waited = context_.clock.now() - memory_[key].created_at;
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
  if (plan.status_if_gone) {
    auto live = co_await home.get(kube::resources::pods, key);
    if (!live && !live.error().is_not_found())
      co_return Outcome::retry(std::move(live.error()).in("reading the pod that seems to be gone"));
    const auto controller = live ? live->controller() : std::nullopt;
    if (controller && controller->uid == shadow->uid()) {
      pods_->observe(std::move(*live));
      co_return Outcome::again_after(unseen_time);
    }
  }
  if (plan.create && plan.confirm_first) {
    auto live = co_await home.get(api::kinds::shadow_pods, key);
    if (!live && !live.error().is_not_found())
      co_return Outcome::retry(std::move(live.error()).in("reading the ShadowPod"));
    // Its own event will bring it back, or take it from the cache.
    if (!live || live->uid() != shadow->uid() || live->is_deleting()) co_return Outcome::done();
  }
  const auto bounds = bounds_.find(key.ns);
  const bool is_bounded = bounds != bounds_.end() || !policy_of(key.ns).cluster_roles.empty();
  if (plan.create && is_bounded && !surroundings_) surroundings_.emplace(context_);
  if (plan.create && is_bounded && !surroundings_->has_synced()) co_return Outcome::again_after(cache_pause);
  if (plan.create && is_bounded && (bounds == bounds_.end() || !bounds->second.counted))
    co_return co_await await_bounds(*shadow);
  if (plan.create && is_bounded) {
    kube::json::object& spec = plan.create->mutable_spec();
    core::name_requests(spec, surroundings_->of(key.ns, spec).limit_ranges);
    // Room that there is while it is being refused has to wake it, too.
    short_[key.ns].insert(key);
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
      now.waits_since.reset();
      stop_waiting(key);
      now.created_at = busy_at_ = context_.clock.now();
      pods_->observe(std::move(*created));
    } else if (created.error().is_already_exists()) {
      // Ours and not in the cache yet, or somebody else's: its labels and owner tell.
      auto live = co_await home.get(kube::resources::pods, key);
      if (!live) co_return Outcome::retry(std::move(live.error()));
      if (live->label(api::labels::managed_by) == api::labels::managed_by_shadow_pod) {
        pods_->observe(std::move(*live));
        co_return Outcome::again_after(0ms);
      }
      pod = std::move(*live);
      plan = core::plan_shadow_pod(*shadow, &*pod, core::ShadowMemory());
    } else {
      co_return co_await take_refusal(*shadow, std::move(created.error()).in("creating the pod"));
    }
  }
  if (!plan.refusal.empty()) {
    context_.events.warning(*shadow, api::kinds::shadow_pods, api::reasons::failed_create_pod, plan.refusal);
    auto told = co_await tell(*shadow, plan.refusal);
    if (!told) co_return Outcome::retry(std::move(told.error()));
    co_return Outcome::again_after(30s);
  }
  if (plan.told) {
    auto told = co_await write_told(key, std::move(*plan.told));
    if (!told) co_return Outcome::retry(std::move(told.error()));
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
  if (plan.status && plan.status_may_wait) {
    record_later(key);
  } else if (plan.status) {
    auto patched = co_await kube::merge_patch(home, *shadows_, key, kube::json::serialize(*plan.status),
                                              "recording the phase", {.subresource = "status"});
    if (!patched) co_return Outcome::retry(std::move(patched.error()));
    // Without its record a pod stays; where the ShadowPod is gone, that brings it back here.
    if (!*patched) co_return Outcome::done();
  }
  if (plan.release && !plan.confirm_first) {
    auto released = co_await release(*pod, false);
    if (!released) co_return Outcome::retry(std::move(released.error()));
  }
  std::optional<kube::Duration> resize_left;
  if (plan.resize) {
    auto resized = co_await resize(*shadow, *pod, std::move(*plan.resize));
    if (!resized) co_return Outcome::retry(std::move(resized.error()));
    if (!*resized) co_return Outcome::done();
    resize_left = *resized;
  }
  if (plan.add_ephemeral) {
    auto added = co_await add_ephemeral(*shadow, *pod, std::move(*plan.add_ephemeral));
    if (!added) co_return Outcome::retry(std::move(added.error()));
  }
  if (plan.await_node) {
    Memory& now = memory_[key];
    if (std::exchange(now.awaited, std::string(pod->uid())) != pod->uid()) now.awaited_since = context_.clock.now();
    co_return Outcome::again_after(core::node_patience - (context_.clock.now() - now.awaited_since));
  }
  if (resize_left) co_return Outcome::again_after(*resize_left);
  co_return Outcome::done();
}

}  // namespace liqo::controllers
