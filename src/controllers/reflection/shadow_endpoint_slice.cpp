#include "controllers/reflection/shadow_endpoint_slice.hpp"

#include <algorithm>
#include <utility>

#include "controllers/common/configurations_of.hpp"
#include "controllers/common/foreign_cluster_of.hpp"
#include "controllers/common/key_of_many.hpp"
#include "controllers/common/tenant_namespace_of.hpp"
#include "core/common/late_requests.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/tenant_index.hpp"
#include "core/reflection/was_there_before.hpp"
#include "kube/client/find_live.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/foreign_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// Endpoints of a Service change in bursts.
constexpr kube::Duration settle_time = 250ms;
constexpr kube::Duration write_interval = 1s;
constexpr kube::Duration cache_pause = 200ms;
/// The pause before a name that another owner has taken is tried again: no watch shows when it is free.
constexpr kube::Duration taken_pause = 20s;
/// The pause before it is checked whether a consumer at its bound has given up endpoints.
constexpr kube::Duration crowded_pause = 5min;

constexpr std::string_view by_consumer = "consumer", by_cluster = "cluster";

void index_by_origin(const kube::Object& shadow, std::vector<std::string>& out) {
  out.emplace_back(shadow.label(api::labels::reflection_origin));
}
void index_by_cluster_label(const kube::Object& object, std::vector<std::string>& out) {
  out.emplace_back(object.label(api::labels::remote_cluster_id));
}

kube::InformerScope scope_of_ours() {
  return {.resource = api::kinds::endpoint_slices,
          .ns = {},
          .selection = {.label_selector =
                            kube::label_is(api::labels::managed_by, api::labels::managed_by_shadow_endpoint_slice)}};
}

}  // namespace

ShadowEndpointSliceController::ShadowEndpointSliceController(Context context)
    : context_(context),
      shadows_(context.home.acquire({.resource = api::kinds::shadow_endpoint_slices})),
      slices_(context.home.acquire(scope_of_ours())),
      namespaces_(context.home.acquire({.resource = kube::resources::namespaces})),
      foreign_clusters_(acquire_foreign_clusters(context.home)),
      configurations_(context.home.acquire({.resource = api::kinds::configurations})),
      own_(context, [this](const core::OwnAddresses::Change& change) { take_own(change); }),
      controller_(context,
                  {.name = "shadowendpointslice",
                   .limits = {.workers = 16, .workers_per_group = 8},
                   .fill = [this] { enqueue_all(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  shadows_->add_index(std::string(by_consumer), index_by_origin);
  namespaces_->add_index(std::string(core::tenants_by_cluster), core::index_tenant_namespace);
  configurations_->add_index(std::string(by_cluster), index_by_cluster_label);
  const auto changed = [this](const kube::ObjectKey& key) { enqueue(key); };
  const auto synced = [this] { enqueue_all(); };
  controller_.watch(shadows_, changed, synced);
  controller_.watch(slices_, changed, synced);
  controller_.watch(namespaces_, [this](const kube::ObjectKey& key) { take_namespace(key); });
  controller_.watch(foreign_clusters_, [this](const kube::ObjectKey& key) { take_foreign_cluster(key); });
  // Not waited for: the kind belongs to the network module, which may not be installed.
  configurations_.subscribe([this](const kube::ObjectKey& key) { take_configuration(key); });
}

void ShadowEndpointSliceController::enqueue(const kube::ObjectKey& key) {
  kube::Duration pause = settle_time;
  if (const auto known = memory_.find(key); known != memory_.end())
    pause = std::max(pause, known->second.written + write_interval - context_.clock.now());
  // A twin namespace belongs to one consumer, so the namespace is the unit of fairness.
  controller_.enqueue_after({key.ns, key}, pause);
}

void ShadowEndpointSliceController::spread(const std::vector<kube::ObjectKey>& keys) {
  for (const kube::ObjectKey& key : keys)
    controller_.enqueue_after({key.ns, key}, context_.random.between(kube::Duration::zero(), write_interval));
}

void ShadowEndpointSliceController::enqueue_consumer(const std::string& consumer) {
  spread(shadows_->store().keys(by_consumer, consumer));
}

void ShadowEndpointSliceController::enqueue_all() {
  for (const kube::ObjectKey& key : shadows_->store().keys()) enqueue(key);
  // Includes EndpointSlices whose ShadowEndpointSlice was removed while no replica led.
  for (const kube::ObjectKey& key : slices_->store().keys())
    if (!shadows_->store().contains(key)) enqueue(key);
  for (const auto& [key, memory] : memory_)
    if (!shadows_->store().contains(key)) enqueue(key);
  for (const kube::ObjectKey& key : unsure_) enqueue(key);
  for (const auto& [key, until] : late_) enqueue(key);
}

void ShadowEndpointSliceController::take_namespace(const kube::ObjectKey& key) {
  const auto ns = namespaces_->find(key);
  if (ns && core::is_tenant_namespace(*ns)) {
    const std::string consumer(ns->label(api::labels::remote_cluster_id));
    consumers_.erase(consumer);
    enqueue_consumer(consumer);
    return;
  }
  for (auto known = consumers_.begin(); known != consumers_.end();) {
    const auto at = known++;
    if (at->second.tenant_namespace != key.name) continue;
    enqueue_consumer(at->first);
    consumers_.erase(at);
  }
  spread(shadows_->store().keys_in(key.name));
}

void ShadowEndpointSliceController::take_foreign_cluster(const kube::ObjectKey& key) {
  std::set<std::string> concerned;
  if (const auto peer = foreign_clusters_->find(key)) concerned.emplace(api::ForeignCluster(*peer).cluster_id());
  for (const auto& [consumer, known] : consumers_)
    if (known.foreign_cluster == key.name) concerned.insert(consumer);
  for (const std::string& consumer : concerned) {
    consumers_.erase(consumer);
    enqueue_consumer(consumer);
  }
}

void ShadowEndpointSliceController::take_configuration(const kube::ObjectKey& key) {
  const auto configuration = configurations_->find(key);
  if (!configuration) {
    // Its owner is not known any more.
    consumers_.clear();
    spread(shadows_->store().keys());
    return;
  }
  const std::string cluster(configuration->label(api::labels::remote_cluster_id));
  consumers_.erase(cluster);
  enqueue_consumer(cluster);
  // Pods of that cluster may stand behind Services of others.
  std::vector<kube::ObjectKey> direct;
  for (const auto& [shadow, memory] : memory_)
    if (memory.direct.contains(cluster)) direct.push_back(shadow);
  spread(direct);
}

void ShadowEndpointSliceController::take_own(const core::OwnAddresses::Change& change) {
  if (change.any) {
    spread(shadows_->store().keys());
    return;
  }
  const auto order = [](const core::IpAddress& address) { return std::tie(address.v6, address.bytes); };
  const auto has_any = [&](const Memory& memory) {
    return std::ranges::any_of(change.addresses, [&](const core::IpAddress& address) {
      return std::ranges::binary_search(memory.judged, order(address), {}, order);
    });
  };
  // Pods of a consumer count in their own twin, whatever is declared.
  for (const std::string& twin : change.twins)
    for (const kube::ObjectKey& key : shadows_->store().keys_in(twin))
      if (const auto known = memory_.find(key); known != memory_.end() && has_any(known->second)) enqueue(key);
  for (const core::IpAddress& address : change.addresses) {
    // Most addresses may not be used by any consumer, and are in no slice.
    const bool may_be =
        std::ranges::any_of(consumers_, [&](const auto& known) { return known.second.addresses.may_have(address); });
    if (!may_be) continue;
    for (const auto& [key, memory] : memory_)
      if (std::ranges::binary_search(memory.judged, order(address), {}, order)) enqueue(key);
  }
}

std::string ShadowEndpointSliceController::consumer_of(const std::string& ns) const {
  const auto twin = namespaces_->find({{}, ns});
  return std::string(twin ? core::consumer_of_twin(*twin) : "");
}

const ShadowEndpointSliceController::Consumer& ShadowEndpointSliceController::look_at(const std::string& consumer) {
  const auto [at, is_new] = consumers_.try_emplace(consumer);
  Consumer& made = at->second;
  if (!is_new) return made;
  kube::Result<core::PodPolicy> policy;
  made.tenant_namespace = tenant_namespace_of(namespaces_->store(), consumer);
  if (const auto tenant = namespaces_->find({{}, made.tenant_namespace}))
    policy = core::read_pod_policy(tenant->annotation(api::annotations::pod_policy));
  const auto peer = foreign_cluster_of(foreign_clusters_->store(), consumer);
  const auto configurations = configurations_of(configurations_->store(), made.tenant_namespace, consumer);
  if (peer) made.foreign_cluster = peer->name();
  made.addresses = core::ConsumerAddresses::of(
      consumer, made.tenant_namespace,
      {.policy = policy, .foreign_cluster = peer ? &*peer : nullptr, .configurations = configurations});
  made.reachable = core::reflection::is_reachable(peer ? &*peer : nullptr);
  if (policy) made.policy = std::move(*policy);
  return made;
}

core::reflection::EndpointSlicePlan ShadowEndpointSliceController::plan(const kube::Object& shadow,
                                                                        const kube::Object* live) {
  const std::string id = consumer_of(std::string(shadow.ns()));
  const Consumer& consumer = look_at(id);
  Memory& memory = memory_[shadow.key()];
  give_back(memory);
  if (memory.uid != shadow.uid()) memory = Memory{.uid = std::string(shadow.uid()), .written = memory.written};
  const auto used = endpoints_.find(id);
  core::reflection::EndpointSlicePlan plan = core::reflection::plan_endpoint_slice(
      shadow, live,
      {.consumer = id,
       .addresses = consumer.addresses,
       .policy = consumer.policy,
       .own = own_.all(),
       .reachable = consumer.reachable,
       .room = core::reflection::max_consumer_endpoints - (used == endpoints_.end() ? 0 : used->second),
       .map_direct = [this](const std::string& cluster,
                            const core::IpAddress& address) -> std::optional<core::IpAddress> {
         // The consumer claims which clusters there are: only those with a network here are remembered.
         if (configurations_->store().keys(by_cluster, cluster).empty()) return std::nullopt;
         return look_at(cluster).addresses.mapped(address);
       },
       .denies_direct = context_.settings.reflection.denies_direct_connections,
       .provider = context_.settings.cluster_id});
  if (plan.endpoints > 0) endpoints_[id] += plan.endpoints;
  memory.consumer = id;
  memory.endpoints = plan.endpoints;
  memory.judged = std::move(plan.judged);
  memory.direct = std::move(plan.direct);
  return plan;
}

void ShadowEndpointSliceController::report(const kube::Object& shadow, const kube::Object* live,
                                           const core::reflection::EndpointSlicePlan& plan) {
  const auto known = memory_.find(shadow.key());
  if (known == memory_.end()) return;
  Memory& memory = known->second;
  if (std::exchange(memory.refused, plan.refusal) != plan.refusal && !plan.refusal.empty())
    context_.events.warning(shadow, api::kinds::shadow_endpoint_slices, api::reasons::failed_reflection,
                            "no EndpointSlice is made of this: " + plan.refusal);
  if (plan.left_out.empty()) return;
  const std::string declaration = look_at(consumer_of(std::string(shadow.ns()))).addresses.words();
  const std::string before = std::exchange(memory.reported, declaration);
  // The process that wrote the note on the EndpointSlice has reported it.
  const bool was_reported = before.empty() && live && live->annotation(api::annotations::left_out) == plan.left_out;
  if (before != declaration && !was_reported)
    context_.events.warning(shadow, api::kinds::shadow_endpoint_slices, api::reasons::address_left_out,
                            plan.left_out_words);
}

void ShadowEndpointSliceController::give_back(Memory& memory) {
  const std::size_t endpoints = std::exchange(memory.endpoints, 0);
  const auto used = endpoints_.find(memory.consumer);
  if (used == endpoints_.end()) return;
  used->second -= endpoints;
  if (used->second == 0) endpoints_.erase(used);
}

void ShadowEndpointSliceController::forget(const kube::ObjectKey& key) {
  const auto known = memory_.find(key);
  if (known == memory_.end()) return;
  give_back(known->second);
  memory_.erase(known);
}

std::string ShadowEndpointSliceController::left_behind(const kube::ObjectKey& key, const kube::Object* shadow) const {
  const auto live = slices_->find(key);
  if (!live || live->is_deleting()) return "";
  const auto owner = live->controller();
  const bool is_shadows = owner && owner->kind == api::kinds::shadow_endpoint_slices.kind && owner->name == key.name;
  if (shadow && is_shadows && owner->uid == shadow->uid()) return std::string(live->uid());
  const bool is_nobodys = core::reflection::is_orphan(*live) || (!shadow && is_shadows);
  return is_nobodys && !consumer_of(key.ns).empty() ? std::string(live->uid()) : "";
}

bool ShadowEndpointSliceController::can_judge() const { return own_.is_known() && configurations_->is_known(); }

asio::awaitable<Outcome> ShadowEndpointSliceController::reconcile(kube::WorkKey work) {
  if (work == key_of_many()) {
    if (!can_judge()) co_return Outcome::again_after(cache_pause);
    enqueue_all();
    co_return Outcome::done();
  }
  const kube::ObjectKey key = work.object;
  if (const auto late = late_.find(key); late != late_.end() && context_.clock.now() >= late->second) {
    late_.erase(late);
    unsure_.insert(key);
  }
  if (unsure_.contains(key)) co_return co_await settle(key);
  Outcome end = co_await follow(key);
  const auto late = late_.find(key);
  if (late == late_.end() || end.failure()) co_return end;
  const kube::Duration left = late->second - context_.clock.now();
  co_return end.delay() && *end.delay() < left ? std::move(end) : Outcome::again_after(left);
}

asio::awaitable<Outcome> ShadowEndpointSliceController::follow(kube::ObjectKey key) {
  const bool exists = shadows_->store().contains(key);
  if (exists) own_.start();
  if (exists && !can_judge()) {
    // Each of them may be large, so that only one look is taken at a time, for all that wait.
    controller_.enqueue_after(key_of_many(), cache_pause);
    co_return Outcome::done();
  }
  const auto shadow = shadows_->find(key);
  if (!shadow || shadow->is_deleting()) {
    forget(key);
    std::string uid = left_behind(key, shadow ? &*shadow : nullptr);
    if (uid.empty()) co_return Outcome::done();
    co_return co_await remove(key, std::move(uid));
  }

  auto live = slices_->find(key);
  core::reflection::EndpointSlicePlan wanted = plan(*shadow, live ? &*live : nullptr);
  namespace action = core::reflection::endpoint_slice_action;
  if (!live && std::holds_alternative<action::Apply>(wanted.action)) {
    // Nothing can be made in a namespace that ends, and nobody there would read that it was refused.
    if (const auto twin = namespaces_->find({{}, key.ns}); twin && twin->is_deleting()) co_return Outcome::done();
    // An EndpointSlice of that name may be ours and not in the cache yet, or another owner's, which the cache omits.
    KUBE_CO_TRY(found, co_await kube::find_live(context_.home.api(), api::kinds::endpoint_slices, key),
                "looking for an EndpointSlice of that name");
    if (found) {
      live = std::move(found);
      wanted = plan(*shadow, &*live);
    }
  }
  report(*shadow, live ? &*live : nullptr, wanted);
  if (auto* ends = std::get_if<action::Remove>(&wanted.action)) co_return co_await remove(key, std::move(ends->uid));
  if (auto* due = std::get_if<action::Apply>(&wanted.action))
    co_return co_await write(*shadow, std::move(live), std::move(due->wanted));
  if (std::holds_alternative<action::AwaitEnd>(wanted.action) || (live && !wanted.refusal.empty()))
    co_return Outcome::again_after(taken_pause);
  if (wanted.crowded) co_return Outcome::again_after(crowded_pause);
  co_return Outcome::done();
}

asio::awaitable<Outcome> ShadowEndpointSliceController::write(kube::Object shadow, std::optional<kube::Object> live,
                                                              kube::Object wanted) {
  const kube::ObjectKey key = shadow.key();
  // Changes that come before the answer wait for their turn, too.
  const auto note_time = [this, &key] {
    if (const auto known = memory_.find(key); known != memory_.end()) known->second.written = context_.clock.now();
  };
  note_time();
  // Without force if there was none: an owner that has taken the name meanwhile keeps it.
  auto applied = co_await context_.home.api().patch(api::kinds::endpoint_slices, key,
                                                    {kube::PatchType::apply, wanted.text(), live.has_value()},
                                                    {.field_manager = api::endpoint_slice_field_manager});
  note_time();
  if (applied) {
    const bool is_theirs = !live && core::reflection::was_there_before(*applied, api::endpoint_slice_field_manager);
    if (is_theirs) unsure_.insert(key);
    slices_->observe(std::move(*applied));
    co_return is_theirs ? Outcome::again_after(0ms) : Outcome::done();
  }
  // The apply may have been carried out.
  if (!live && !applied.error().is_conflict() && !applied.error().is_permanent()) {
    unsure_.insert(key);
    // Another owner may take the name before it is carried out.
    late_[key] = context_.clock.now() + core::late_after;
  }
  // The one that was seen is gone, or was replaced.
  if (applied.error().is_conflict()) co_return Outcome::again_after(write_interval);
  kube::Failure failure = std::move(applied.error()).in("writing the EndpointSlice");
  if (failure.is_permanent()) {
    context_.events.warning(shadow, api::kinds::shadow_endpoint_slices, api::reasons::failed_reflection,
                            failure.text());
    // The EndpointSlice has the addresses of an earlier wish, which is not judged any more: no addresses are better.
    if (live) static_cast<void>(co_await remove(key, std::string(live->uid())));
  }
  co_return Outcome::retry(std::move(failure));
}

asio::awaitable<Outcome> ShadowEndpointSliceController::settle(kube::ObjectKey key) {
  kube::Api& home = context_.home.api();
  KUBE_CO_TRY(found, co_await kube::find_live(home, api::kinds::endpoint_slices, key),
              "looking whose EndpointSlice it is");
  if (found && core::reflection::was_there_before(*found, api::endpoint_slice_field_manager)) {
    kube::Object nothing = kube::Object::make(api::kinds::endpoint_slices, key);
    nothing.mutable_metadata()["uid"] = found->uid();
    auto undone = co_await home.patch(api::kinds::endpoint_slices, key, {kube::PatchType::apply, nothing.text()},
                                      {.field_manager = api::endpoint_slice_field_manager});
    // An object that is invalid without the fields that we set was made by us.
    if (!undone && !undone.error().is_permanent())
      co_return Outcome::retry(std::move(undone.error()).in("giving back somebody else's EndpointSlice"));
    if (undone) slices_->observe_gone(key, found->uid());
  }
  unsure_.erase(key);
  co_return Outcome::again_after(0ms);
}

asio::awaitable<Outcome> ShadowEndpointSliceController::remove(kube::ObjectKey key, std::string uid) {
  KUBE_CO_TRYV(co_await kube::remove_object(context_.home.api(), api::kinds::endpoint_slices, key,
                                            {.options = {.uid = uid}, .phase = "removing the EndpointSlice"}));
  slices_->observe_gone(key, uid);
  // For the case that another one is wanted in its place.
  co_return Outcome::again_after(settle_time);
}

}  // namespace liqo::controllers
