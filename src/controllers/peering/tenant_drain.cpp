#include "controllers/peering/tenant_drain.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iterator>
#include <utility>

#include "controllers/common/drain_grace.hpp"
#include "controllers/common/scopes.hpp"
#include "core/namespaces/belonging.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

/// The number of ShadowPods that are deleted at a time, so that a big tenant does not occupy a worker for long.
constexpr std::size_t max_deletions = 200;
/// The pause before all ShadowPods are looked at once more: the cache has to show first which ones were deleted.
constexpr kube::Duration late_pods_pause = 1s;
/// The number of pods that are looked at in one turn of the loop.
constexpr std::size_t max_looked_at_in_a_turn = 50;
constexpr std::string_view grace_field = "deletionGracePeriodSeconds";
/// Index of drained Tenants, by their cluster.
constexpr std::string_view drained_cluster = "drained-cluster", any_cluster = "*";
/// Index of twins by their consumer: by the labels of namespaces, which are ours; those of a ShadowPod are the
/// consumer's.
constexpr std::string_view twins_of_consumer = "twins-of-consumer";

bool outlives_drain(const kube::Object& pod, std::int64_t max_grace) {
  return pod.is_deleting() && kube::int_at(pod.metadata(), {grace_field}) > max_grace;
}

}  // namespace

TenantDrain::TenantDrain(const TenantNamespaces& namespaces, Context context)
    : namespaces_(namespaces),
      context_(std::move(context)),
      tenants_(context_.home.acquire({.resource = api::kinds::tenants})),
      shadow_pods_(context_.home.acquire({.resource = api::kinds::shadow_pods})),
      pods_(context_.home.acquire(scope_of_consumer_pods())),
      twins_(context_.home.acquire({.resource = kube::resources::namespaces,
                                    .selection = {.label_selector = std::string(api::labels::remote_cluster_id)}})) {
  twins_->add_index(std::string(twins_of_consumer), [](const kube::Object& ns, std::vector<std::string>& values) {
    if (const auto consumer = core::consumer_of_twin(ns); !consumer.empty()) values.emplace_back(consumer);
  });
  tenants_->add_index(std::string(drained_cluster), [](const kube::Object& tenant, std::vector<std::string>& values) {
    const api::Tenant view(tenant);
    if (view.condition() != api::TenantCondition::drained) return;
    values.emplace_back(view.cluster_id());
    values.emplace_back(any_cluster);
  });
}

void TenantDrain::watched_by(kube::Controller& controller) {
  const auto all = [this, &controller] { controller.enqueue_all(tenants_->store()); };
  controller.watch(shadow_pods_, [this](const kube::ObjectKey& key) { return enders_of_shadow_pod(key); }, all);
  controller.watch(pods_, [this](const kube::ObjectKey& key) { return enders_of_pod(key); }, all);
  controller.watch(twins_, [](const kube::ObjectKey&) {}, all);
}

void TenantDrain::forget(std::string_view uid) {
  if (const auto known = deleted_up_to_.find(uid); known != deleted_up_to_.end()) deleted_up_to_.erase(known);
}

std::vector<kube::ObjectKey> TenantDrain::drained_of(std::string_view twin) const {
  if (tenants_->store().keys(drained_cluster, any_cluster).empty()) return {};
  const auto ns = twins_->find({"", std::string(twin)});
  if (!ns) return {};
  return tenants_->store().keys(drained_cluster, ns->label(api::labels::remote_cluster_id));
}

std::vector<kube::ObjectKey> TenantDrain::enders_of_shadow_pod(const kube::ObjectKey& shadow_pod) const {
  auto drained = drained_of(shadow_pod.ns);
  if (drained.empty()) return {};
  const auto shadow = shadow_pods_->find(shadow_pod);
  if (!shadow || shadow->is_deleting()) return {};
  return drained;
}

std::vector<kube::ObjectKey> TenantDrain::enders_of_pod(const kube::ObjectKey& pod_key) const {
  auto drained = drained_of(pod_key.ns);
  if (drained.empty()) return {};
  const auto pod = pods_->find(pod_key);
  std::erase_if(drained,
                [&](const kube::ObjectKey& tenant) { return !pod || !outlives_drain(*pod, max_grace(tenant.ns)); });
  return drained;
}

std::vector<kube::ObjectKey> TenantDrain::keys_in_twins(const kube::Informer& objects,
                                                        std::string_view consumer) const {
  std::vector<kube::ObjectKey> keys;
  for (const kube::ObjectKey& twin : twins_->store().keys(twins_of_consumer, consumer))
    std::ranges::move(objects.store().keys_in(twin.name), std::back_inserter(keys));
  return keys;
}

bool TenantDrain::ends_pods(const kube::Object& tenant) const {
  const auto latest = tenants_->find(tenant.key());
  return latest && latest->uid() == tenant.uid() && api::Tenant(*latest).condition() == api::TenantCondition::drained &&
         !api::Tenant(*latest).keeps_pods();
}

std::int64_t TenantDrain::max_grace(std::string_view tenant_namespace) const {
  return drain_grace_of(namespaces_.annotation(tenant_namespace, api::annotations::pod_policy));
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TenantDrain::go_on(kube::Object tenant) {
  if (!ends_pods(tenant)) co_return std::nullopt;
  KUBE_CO_TRY(again, co_await delete_shadow_pods(tenant));
  // Their pods end with them. Pods that would outlive the drain are looked for once, and not after each part.
  if (again) co_return again;
  KUBE_CO_TRYV(co_await shorten_grace(tenant));
  co_return std::nullopt;
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TenantDrain::delete_shadow_pods(kube::Object tenant) {
  std::size_t deleted = 0;
  const std::string uid(tenant.uid());
  auto keys = keys_in_twins(*shadow_pods_, api::Tenant(tenant).cluster_id());
  std::ranges::sort(keys);
  // ShadowPods that were deleted before may stay for their grace periods, and are not looked at each time.
  auto next = keys.begin();
  if (const auto before = deleted_up_to_.find(uid); before != deleted_up_to_.end())
    next = std::ranges::upper_bound(keys, before->second);
  const bool resumed = deleted_up_to_.erase(uid) > 0;
  for (; next != keys.end(); ++next) {
    const kube::ObjectKey& key = *next;
    const auto shadow = shadow_pods_->find(key);
    if (!shadow || shadow->is_deleting()) continue;
    if (++deleted > max_deletions) {
      deleted_up_to_.insert_or_assign(uid, *std::prev(next));
      co_return 0ms;
    }
    // The Tenant may have been activated meanwhile.
    if (!ends_pods(tenant)) co_return std::nullopt;
    KUBE_CO_TRYV(co_await kube::remove_object(
        context_.home.api(), api::kinds::shadow_pods, key,
        {.options = {.uid = std::string(shadow->uid())}, .phase = "deleting the drained tenant's ShadowPods"}));
  }
  // One that was stored meanwhile may be before those at which this pass began.
  if (resumed) co_return late_pods_pause;
  co_return std::nullopt;
}

asio::awaitable<kube::Result<void>> TenantDrain::shorten_grace(kube::Object tenant) {
  const std::int64_t grace = max_grace(tenant.ns());
  std::size_t looked_at = 0;
  for (const kube::ObjectKey& key : keys_in_twins(*pods_, api::Tenant(tenant).cluster_id())) {
    // Hardly one of thousands has to be ended sooner.
    if (++looked_at % max_looked_at_in_a_turn == 0) co_await asio::post(asio::use_awaitable);
    const auto pod = pods_->find(key);
    if (!pod || !outlives_drain(*pod, grace)) continue;
    if (!ends_pods(tenant)) break;
    KUBE_CO_TRYV(
        co_await kube::remove_object(context_.home.api(), kube::resources::pods, key,
                                     {.options = {.uid = std::string(pod->uid()), .grace_period_seconds = grace},
                                      .phase = "ending the drained tenant's pods sooner"}));
  }
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
