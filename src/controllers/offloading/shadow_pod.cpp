#include "controllers/offloading/shadow_pod.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <limits>
#include <tuple>

#include "controllers/common/configurations_of.hpp"
#include "controllers/common/known.hpp"
#include "controllers/common/scopes.hpp"
#include "controllers/common/server_time.hpp"
#include "controllers/common/tenant_namespace_of.hpp"
#include "core/addresses/network_configuration.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/tenant_index.hpp"
#include "core/namespaces/twin_pod_bounds.hpp"
#include "core/offloading/provider_pod.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/task_group.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// At least this long between two writes of why a pod is not made.
constexpr kube::Duration tell_interval = 30s;
/// How many waiting Pods are tried when the use of the bounds has fallen.
constexpr std::size_t max_woken = 32;
/// How many records that may wait are written at a time: few, because Pods that are being made come first.
constexpr int max_late_records = 8;
/// What is known of the clock of the API server may be wrong by that.
constexpr kube::Duration clock_slack = 5s;

}  // namespace

ShadowPodController::ShadowPodController(Context context)
    : context_(context),
      shadows_(context.home.acquire({.resource = api::kinds::shadow_pods})),
      pods_(context.home.acquire(scope_of_consumer_pods())),
      namespaces_(context_.home.acquire({.resource = kube::resources::namespaces})),
      quotas_(context_.home.acquire({.resource = api::kinds::resource_quotas, .selection = core::kept_by_liqo()})),
      configurations_(context_.home.acquire({.resource = api::kinds::configurations})),
      controller_(context,
                  {.name = "shadowpod",
                   .limits = {.workers = 128, .workers_per_group = 64},
                   .ready = [this] { return has_synced(); },
                   .fill = [this] { enqueue_all(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      records_(
          context,
          {.name = "shadowpod_record", .limits = {.workers = max_late_records, .workers_per_group = max_late_records}},
          [this](kube::WorkKey key) { return record(std::move(key)); }) {
  const auto changed = [this](const kube::ObjectKey& key) { enqueue(key); };
  const auto synced = [this] { enqueue_all(); };
  shadows_.subscribe(changed, synced);
  pods_.subscribe(changed, synced);
  namespaces_->add_index(std::string(core::tenants_by_cluster), core::index_tenant_namespace);
  namespaces_.subscribe([this](const kube::Change& ns) { see_namespace(ns); }, synced);
  quotas_.follow([this](const kube::Change& quota) { see_bounds(quota); });
  unrecorded_shown_ = context.metrics.sample(families::unrecorded_pods, {}, [this] {
    return context_.leadership.is_leader() ? double(unrecorded_.size()) : 0.0;
  });
}

asio::awaitable<void> ShadowPodController::run() {
  begun_ = context_.clock.now();
  unrecorded_.clear();
  kube::async::TaskGroup group(co_await asio::this_coro::executor);
  group.spawn(controller_.run());
  group.spawn(records_.run());
  co_await kube::async::finally(group.join(), group.stop());
}

void ShadowPodController::record_later(const kube::ObjectKey& key) {
  if (!unrecorded_.insert(key).second) return;
  busy_at_ = context_.clock.now();
  records_.enqueue_after({key.ns, key}, core::max_record_delay);
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
  if (shadow && pod) plan = core::plan_shadow_pod({*shadow, &*pod}, core::ShadowMemory(), nullptr, policy_of(key.ns));
  const auto* keep = std::get_if<core::shadow_action::Keep>(&plan);
  const auto* due = keep ? core::find_step<core::shadow_action::Record>(*keep) : nullptr;
  if (due && due->may_wait) {
    auto recorded = co_await write_record(key, due->status);
    if (!recorded) co_return Outcome::retry(std::move(recorded.error()));
  }
  unrecorded_.erase(key);
  co_return Outcome::done();
}

bool ShadowPodController::is_inherited(const kube::Object& shadow) const {
  const auto created = kube::parse_time(shadow.creation_timestamp());
  return !created || *created <= server_time(context_, begun_) + clock_slack;
}

void ShadowPodController::see_namespace(const kube::Change& change) {
  const auto decides = [](const kube::Object& ns) {
    return std::tuple(core::is_tenant_namespace(ns), ns.label(api::labels::remote_cluster_id),
                      ns.annotation(api::annotations::pod_policy));
  };
  if (!change.changes(decides)) return;
  policies_.erase(change.key.name);
  std::set<std::string> twins{change.key.name}, consumers;
  for (const kube::Object* ns : {change.previous(), change.now})
    if (ns && core::is_tenant_namespace(*ns)) consumers.emplace(ns->label(api::labels::remote_cluster_id));
  if (!consumers.empty()) {
    policies_.clear();
    for (const auto& [twin, keys] : short_)
      if (consumers.contains(consumer_of(twin))) twins.insert(twin);
  }
  for (const std::string& twin : twins) wake(twin, std::numeric_limits<std::size_t>::max());
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
    wake(key.ns, max_woken);
}

void ShadowPodController::wake(const std::string& twin, std::size_t max_keys) {
  const auto found = short_.find(twin);
  if (found == short_.end()) return;
  for (std::set<kube::ObjectKey>& keys = found->second; !keys.empty() && max_keys > 0; --max_keys) {
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

std::string ShadowPodController::consumer_of(std::string_view twin) const {
  const auto ns = namespaces_->find({{}, std::string(twin)});
  return std::string(ns ? ns->label(api::labels::remote_cluster_id) : "");
}

const core::admission::PodPolicy& ShadowPodController::policy_of(const std::string& twin) {
  const auto [at, is_new] = policies_.try_emplace(twin);
  if (!is_new) return at->second;
  const std::string consumer = consumer_of(twin);
  if (consumer.empty()) return at->second;
  if (const auto tenant = namespaces_->find({{}, tenant_namespace_of(namespaces_->store(), consumer)}))
    at->second = core::admission::read_pod_policy(tenant->annotation(api::annotations::pod_policy))
                     .value_or(core::admission::PodPolicy());
  return at->second;
}

kube::Result<core::IpMapping> ShadowPodController::api_server_mapping(const kube::Object& shadow) const {
  const std::vector<std::string> addresses = core::home_api_server_addresses(shadow);
  const std::string consumer = consumer_of(shadow.ns());
  const auto configurations =
      configurations_of(configurations_->store(), tenant_namespace_of(namespaces_->store(), consumer), consumer);
  auto mapping = core::read_network_mapping(configurations);
  // An address that its administrator declared, such as a public one, needs no network between the clusters.
  const bool needs_network = std::ranges::any_of(
      addresses, [&](const std::string& address) { return core::is_in_range_of_peer(configurations, address); });
  if (!mapping && !needs_network) return core::IpMapping();
  return mapping;
}

void ShadowPodController::enqueue_all() {
  controller_.enqueue_all(shadows_->store());
  // Pods that have lost their ShadowPod are to be released.
  controller_.enqueue_all(pods_->store());
}

void ShadowPodController::enqueue(const kube::ObjectKey& key) {
  // A twin namespace belongs to one consumer, so the namespace is the unit of fairness.
  controller_.enqueue({key.ns, key});
}

asio::awaitable<kube::Result<void>> ShadowPodController::tell(const kube::Object& shadow, std::string words) {
  auto patch = core::refusal_patch(shadow, words);
  if (!patch) co_return kube::Result<void>();
  const kube::ObjectKey key = shadow.key();
  // Each write brings the ShadowPod back at once: words that differ each time would make a loop.
  Memory& memory = memory_[key];
  const kube::TimePoint now = context_.clock.now();
  if (memory.told_at && now - *memory.told_at < tell_interval) co_return kube::Result<void>();
  memory.told_at = now;
  co_return co_await write_told(key, std::move(*patch));
}

asio::awaitable<kube::Result<void>> ShadowPodController::write_told(kube::ObjectKey key, kube::json::object patch) {
  auto patched =
      co_await kube::merge_patch(context_.home.api(), *shadows_, std::move(key),
                                 {.body = kube::json::serialize(patch), .phase = "telling why the pod is not made"});
  if (!patched) co_return std::unexpected(std::move(patched.error()));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
