#include "controllers/peering/tenant.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "controllers/common/ensure_binding.hpp"
#include "controllers/common/guarded_write.hpp"
#include "controllers/common/is_older.hpp"
#include "controllers/common/scopes.hpp"
#include "core/common/owner.hpp"
#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/peering/decisions.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/handshake.hpp"
#include "core/peering/replication.hpp"
#include "kube/client/list_all.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace json = kube::json;
namespace labels = api::labels;

/// The number of ShadowPods that are deleted at a time, so that a big tenant does not occupy a worker for long.
constexpr std::size_t max_deletions = 200;
/// The pause before all ShadowPods are looked at once more: the cache has to show first which ones were deleted.
constexpr kube::Duration late_pods_pause = 1s;
constexpr kube::Duration max_wait = 24h;
/// Index of drained Tenants, by their cluster.
constexpr std::string_view drained_cluster = "drained-cluster", any_cluster = "*";
/// Index of twins by their consumer: by the labels of namespaces, which are ours; those of a ShadowPod are the
/// consumer's.
constexpr std::string_view twins_of_consumer = "twins-of-consumer";
/// The pause between two looks whether a binding of others is gone: these are not watched.
constexpr kube::Duration namesake_pause = 30s;

/// Whether an object is the copy of an object of `peer`: the replicator sets both marks, and admission checks them.
bool is_replica_of(const kube::Object& object, std::string_view peer) {
  return object.label(labels::replicated) == "true" && object.label(labels::replication_origin) == peer;
}

}  // namespace

TenantController::TenantController(TenantNamespaces& namespaces, Context context)
    : context_(std::move(context)),
      namespaces_(namespaces),
      issuer_(context_),
      tenants_(context_.home.acquire({.resource = api::kinds::tenants})),
      slices_(context_.home.acquire({.resource = api::kinds::resource_slices})),
      shadow_pods_(context_.home.acquire({.resource = api::kinds::shadow_pods})),
      pods_(context_.home.acquire(scope_of_consumer_pods())),
      consumer_namespaces_(
          context_.home.acquire({.resource = kube::resources::namespaces,
                                 .selection = {.label_selector = std::string(labels::remote_cluster_id)}})),
      cluster_bindings_(
          context_.home.acquire({.resource = api::kinds::cluster_role_bindings, .selection = core::kept_by_liqo()})),
      controller_(context_, {.name = "tenant"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  const auto all = [this] { controller_.enqueue_all(tenants_->store()); };
  consumer_namespaces_->add_index(std::string(twins_of_consumer),
                                  [](const kube::Object& ns, std::vector<std::string>& values) {
                                    if (const auto consumer = core::consumer_of_twin(ns); !consumer.empty())
                                      values.emplace_back(consumer);
                                  });
  tenants_->add_index(std::string(drained_cluster), [](const kube::Object& tenant, std::vector<std::string>& values) {
    const api::Tenant view(tenant);
    if (view.condition() != api::TenantCondition::drained) return;
    values.emplace_back(view.cluster_id());
    values.emplace_back(any_cluster);
  });
  controller_.watch(
      tenants_,
      [this](const kube::Change& tenant) {
        const kube::Object* before = tenant.previous();
        if (before && (!tenant.now || tenant.now->uid() != before->uid())) {
          reported_conditions_.erase(std::string(before->uid()));
          reported_namesakes_.erase(std::string(before->uid()));
          reported_policies_.erase(std::string(before->uid()));
          heartbeats_.erase(std::string(before->uid()));
          deleted_up_to_.erase(std::string(before->uid()));
        }
        if (before && !tenant.now) see_bindings_to_leader();
        controller_.enqueue_all(tenants_->store(), tenant.key.ns);
      },
      all);
  controller_.watch(slices_, [this](const kube::ObjectKey& key) { see_slice(key); }, all);
  controller_.watch(shadow_pods_, [this](const kube::ObjectKey& key) { see_shadow_pod(key); }, all);
  controller_.watch(pods_, [this](const kube::ObjectKey& key) { see_pod(key); }, all);
  controller_.watch(cluster_bindings_, [all](const kube::ObjectKey&) { all(); }, all);
  controller_.watch(consumer_namespaces_, [](const kube::ObjectKey&) {}, all);
  controller_.reads(namespaces_);
  namespaces_.subscribe_bindings([this](const kube::ObjectKey& key) {
    controller_.enqueue_all(tenants_->store(), key.ns);
    if (key.ns == context_.settings.liqo_namespace) see_binding_to_leader(key);
  });
  namespaces_.subscribe([this](const kube::ObjectKey& key) {
    if (key.name.empty() || key.name == core::nonce_secret || key.name == core::certificate_secret_name(""))
      controller_.enqueue_all(tenants_->store(), key.ns);
  });
  issuer_.on_address_change(all);
}

void TenantController::see_slice(const kube::ObjectKey& key) {
  const auto slice = slices_->find(key);
  if (!slice) return;
  const bool marked = slice->has_annotation(api::annotations::cordon_tenant);
  for (const kube::Object& tenant : tenants_of(key.ns)) {
    const bool wanted = api::Tenant(tenant).condition() != api::TenantCondition::active;
    if (wanted != marked) controller_.enqueue({key.ns, tenant.key()});
  }
}

void TenantController::see_shadow_pod(const kube::ObjectKey& shadow_key) {
  if (tenants_->store().keys(drained_cluster, any_cluster).empty()) return;
  const auto ns = consumer_namespaces_->find({"", shadow_key.ns});
  if (!ns) return;
  const auto drained = tenants_->store().keys(drained_cluster, ns->label(labels::remote_cluster_id));
  if (drained.empty()) return;
  const auto shadow = shadow_pods_->find(shadow_key);
  if (!shadow || shadow->is_deleting()) return;
  for (const kube::ObjectKey& key : drained) controller_.enqueue({key.ns, key});
}

void TenantController::see_pod(const kube::ObjectKey& pod_key) {
  if (tenants_->store().keys(drained_cluster, any_cluster).empty()) return;
  const auto ns = consumer_namespaces_->find({"", pod_key.ns});
  if (!ns) return;
  const auto pod = pods_->find(pod_key);
  for (const kube::ObjectKey& key : tenants_->store().keys(drained_cluster, ns->label(labels::remote_cluster_id)))
    if (pod && outlives_drain(*pod, drain_grace(key.ns))) controller_.enqueue({key.ns, key});
}

std::vector<kube::Object> TenantController::tenants_of(std::string_view ns) const {
  std::vector<kube::Object> found;
  for (kube::Object& tenant : tenants_->objects_in(ns)) found.push_back(std::move(tenant));
  std::ranges::sort(found, is_older);
  return found;
}

bool TenantController::has_other_tenant(const kube::Object& tenant) const {
  const std::string_view cluster = api::Tenant(tenant).cluster_id();
  for (const kube::Object& other : tenants_->objects())
    if (other.uid() != tenant.uid() && !other.is_deleting() && api::Tenant(other).cluster_id() == cluster &&
        namespaces_.peer_of(other.ns()) == cluster)
      return true;
  return false;
}

void TenantController::refuse(const kube::Object& tenant, std::string_view reason, std::string text) {
  context_.events.warning(tenant, api::kinds::tenants, reason, std::move(text));
}

void TenantController::report_condition(const kube::Object& tenant) {
  const api::TenantCondition now = api::Tenant(tenant).condition();
  const auto [known, is_new] = reported_conditions_.try_emplace(std::string(tenant.uid()), now);
  const bool changed = std::exchange(known->second, now) != now;
  if (!changed && (!is_new || now == api::TenantCondition::active)) return;
  const char* line = now == api::TenantCondition::drained    ? "tenant drained"
                     : now == api::TenantCondition::cordoned ? "tenant cordoned"
                                                             : "tenant active again";
  log_.info(line, {{"tenant", tenant.key()}, {"cluster", api::Tenant(tenant).cluster_id()}});
}

void TenantController::report_namesake(const kube::Object& tenant, std::string binding) {
  std::string& told = reported_namesakes_[std::string(tenant.uid())];
  if (told == binding) return;
  told = std::move(binding);
  log_.warn("the consumer's ID is the name of somebody in this cluster",
            {{"tenant", tenant.key()}, {"cluster", api::Tenant(tenant).cluster_id()}, {"binding", told}});
}

bool TenantController::is_misplaced(const kube::Object& tenant) {
  const std::string consumer(api::Tenant(tenant).cluster_id());
  const std::string peer = namespaces_.peer_of(tenant.ns());
  if (peer.empty() || peer != consumer) {
    refuse(tenant, "WrongNamespace",
           peer.empty() ? "this is not a tenant namespace: it needs the labels liqo.io/tenant-namespace=true and "
                          "liqo.io/remote-cluster-id=<consumer>"
                        : "this tenant namespace is for cluster " + peer + ", and the Tenant is for " + consumer);
    return true;
  }
  if (const auto all = tenants_of(tenant.ns()); !all.empty() && all.front().uid() != tenant.uid()) {
    refuse(tenant, "TenantExists",
           "the Tenant " + std::string(all.front().name()) + " of this namespace is older: delete one of the two");
    return true;
  }
  return false;
}

bool TenantController::ends_pods(const kube::Object& tenant) const {
  const auto latest = tenants_->find(tenant.key());
  return latest && latest->uid() == tenant.uid() && api::Tenant(*latest).condition() == api::TenantCondition::drained &&
         !api::Tenant(*latest).keeps_pods();
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TenantController::enforce_condition(kube::Object tenant) {
  report_condition(tenant);
  const api::Tenant view(tenant);
  const std::string ns(tenant.ns()), peer(view.cluster_id());
  KUBE_CO_TRYV(co_await mark_slices(ns, peer, view.condition() != api::TenantCondition::active));
  if (!ends_pods(tenant)) co_return std::nullopt;
  KUBE_CO_TRY(again, co_await delete_shadow_pods(tenant));
  // Their pods end with them. Pods that would outlive the drain are looked for once, and not after each part.
  if (again) co_return again;
  KUBE_CO_TRYV(co_await shorten_grace(tenant));
  co_return std::nullopt;
}

asio::awaitable<kube::Result<bool>> TenantController::has_namesake(kube::Object tenant) {
  const api::Tenant view(tenant);
  const std::string peer(view.cluster_id());
  // A consumer that was once admitted keeps its name.
  const kube::ObjectKey wide{"", core::cluster_role_binding_name(core::remote_cluster_wide_role, peer)};
  if (core::was_admitted(view) || cluster_bindings_->find(wide)) co_return false;
  KUBE_CO_TRY(namesake, co_await find_namesake(peer));
  if (namesake.empty()) co_return false;
  // The Event does not name the binding: peering users may read it.
  refuse(tenant, "ClusterIDTaken",
         "in this cluster a role binding names a user or group " + peer +
             " already, and the consumer would inherit its rights: rename either, or, where the binding is meant for "
             "this consumer, give it the label liqo.io/remote-cluster-id=" +
             peer + " (the log of liqod says which it is)");
  report_namesake(tenant, std::move(namesake));
  co_return true;
}

asio::awaitable<Outcome> TenantController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  if (is_of_leader(work)) co_return co_await forget_leftover(key);
  const auto found = tenants_->find(key);
  if (!found) co_return Outcome::done();
  const kube::Object& tenant = *found;
  const api::Tenant view(tenant);
  const std::string peer(view.cluster_id());
  if (tenant.is_deleting()) co_return co_await tear_down(tenant, peer);
  // Nothing can be created in a namespace that is being deleted, not even an Event.
  if (namespaces_.is_ending(key.ns) || is_misplaced(tenant)) co_return Outcome::done();
  report_policy(tenant);
  kube::Api& home = context_.home.api();
  KUBE_CO_TRYV(co_await add_finalizer(home, *tenants_, tenant, api::finalizers::tenant));

  KUBE_CO_TRY(next_drain, co_await enforce_condition(tenant));
  KUBE_CO_TRY(has_namesake_here, co_await has_namesake(tenant));
  if (has_namesake_here) co_return Outcome::again_after(namesake_pause);
  std::optional<kube::WallTime> renewal;
  if (view.needs_handshake()) {
    auto admitted = co_await admit(tenant);
    if (!admitted) {
      if (admitted.error().code() == kube::Errc::missing) refuse(tenant, "AuthParamsFailed", admitted.error().text());
      co_return Outcome::retry(std::move(admitted.error()));
    }
    if (!*admitted) co_return next_drain ? Outcome::again_after(*next_drain) : Outcome::done();
    renewal = **admitted;
  } else {
    co_await let_see_leader(peer);
    KUBE_CO_TRYV(co_await write_status(key, std::nullopt));
  }
  KUBE_CO_TRYV(co_await ensure_binding(home, *cluster_bindings_,
                                       core::forge_cluster_role_binding(peer, core::remote_cluster_wide_role)));
  if (next_drain) co_return Outcome::again_after(*next_drain);
  KUBE_CO_TRY(heartbeat, co_await watch_heartbeat(tenant));
  if (!renewal && !heartbeat) co_return Outcome::done();
  // Wait in short pieces: the monotonic clock stands still while a machine sleeps, but certificates age.
  kube::Duration left = std::min(max_wait, heartbeat.value_or(max_wait));
  if (renewal) left = std::min(left, std::max<kube::Duration>(*renewal - context_.clock.wall(), 1s));
  co_return Outcome::again_after(left);
}

asio::awaitable<kube::Result<std::optional<kube::WallTime>>> TenantController::admit(kube::Object tenant) {
  const api::Tenant view(tenant);
  const kube::Informer* secrets = namespaces_.secrets(tenant.ns());
  if (!secrets) co_return std::nullopt;  // it is enqueued when they are readable
  std::expected<void, core::HandshakeRefusal> checked;
  if (core::was_admitted(view)) {
    checked = core::check_request(view);
  } else {
    const auto secret = secrets->find({std::string(tenant.ns()), std::string(core::nonce_secret)});
    const std::string nonce = secret ? core::secret_bytes(*secret, "nonce") : "";
    if (nonce.empty()) {
      refuse(tenant, "NonceNotFound",
             "the Secret liqo-nonce of this namespace is not there or has no nonce yet: create it with liqoctl create "
             "nonce, and generate the Tenant from that nonce");
      co_return std::nullopt;
    }
    checked = core::check_handshake(view, nonce);
  }
  if (!checked) {
    refuse(tenant, checked.error().reason, checked.error().text);
    co_return std::nullopt;
  }
  CertificateOrder order{.tenant_namespace = std::string(tenant.ns()),
                         .consumer_cluster_id = std::string(view.cluster_id()),
                         .csr_pem = view.csr(),
                         .proxy_url = std::string(view.proxy_url()),
                         .owner = core::owner_of(tenant)};
  KUBE_CO_TRY(issued, co_await issuer_.auth_params(std::move(order)));
  // Rights first: a reader of the status may use them at once.
  KUBE_CO_TRYV(co_await ensure_binding(context_.home.api(), namespaces_.bindings(),
                                       core::forge_role_binding(tenant, core::remote_control_plane_role)));
  co_await let_see_leader(std::string(view.cluster_id()));
  KUBE_CO_TRYV(co_await write_status(tenant.key(), std::move(issued.auth_params)));
  if (!core::was_admitted(view))
    log_.info("tenant admitted", {{"tenant", tenant.key()}, {"cluster", view.cluster_id()}});
  if (issued.renewed)
    context_.events.normal(
        tenant, api::kinds::tenants, "CertificateIssued",
        "the consumer has a certificate; it will be renewed at " + kube::format_time(issued.renew_at));
  co_return issued.renew_at;
}

asio::awaitable<kube::Result<std::string>> TenantController::find_namesake(std::string consumer) {
  for (const kube::Resource& kind : {api::kinds::cluster_role_bindings, api::kinds::role_bindings}) {
    std::string namesake;
    KUBE_CO_TRYV(co_await kube::list_all(context_.home.api(), {.resource = kind, .ns = {}}, {},
                                         [&](const kube::Object& binding) {
                                           if (!core::is_for_namesake(binding, consumer)) return true;
                                           const auto ns = consumer_namespaces_->find({"", std::string(binding.ns())});
                                           if (ns && ns->label(labels::remote_cluster_id) == consumer) return true;
                                           namesake = std::string(kind.kind) + " " + binding.key().text();
                                           return false;
                                         }),
                 "looking whether the consumer's name is free");
    if (!namesake.empty()) co_return namesake;
  }
  co_return std::string();
}

asio::awaitable<kube::Result<void>> TenantController::write_status(const kube::ObjectKey& key,
                                                                   std::optional<json::object> params) {
  const auto tenant = tenants_->find(key);
  if (!tenant) co_return kube::Result<void>();
  const api::Tenant view(*tenant);
  json::object status;
  if (view.tenant_namespace() != key.ns) status["tenantNamespace"] = key.ns;
  if (params && view.auth_params() != *params) {
    // A merge patch keeps what it does not name.
    for (const auto& [field, value] : view.auth_params())
      if (!params->contains(field)) (*params)[field] = nullptr;
    status["authParams"] = std::move(*params);
  }
  if (status.empty()) co_return kube::Result<void>();
  json::object changes;
  changes["status"] = std::move(status);
  KUBE_CO_TRYV(co_await kube::merge_patch(context_.home.api(), *tenants_, key,
                                          {.body = guarded_patch(*tenant, std::move(changes)),
                                           .phase = "writing the Tenant's status",
                                           .options = {.subresource = "status"}}));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> TenantController::mark_slices(std::string ns, std::string peer, bool cordoned) {
  for (const kube::ObjectKey& key : slices_->store().keys_in(ns)) {
    const auto slice = slices_->find(key);
    if (!slice || !is_replica_of(*slice, peer)) continue;
    if (cordoned ? slice->annotation(api::annotations::cordon_tenant) == "true"
                 : !slice->has_annotation(api::annotations::cordon_tenant))
      continue;
    json::object annotations;
    annotations[api::annotations::cordon_tenant] = cordoned ? json::value("true") : json::value(nullptr);
    json::object metadata;
    metadata["annotations"] = std::move(annotations);
    json::object changes;
    changes["metadata"] = std::move(metadata);
    KUBE_CO_TRYV(co_await kube::merge_patch(
        context_.home.api(), *slices_, key,
        {.body = guarded_patch(*slice, std::move(changes)), .phase = "marking a ResourceSlice"}));
  }
  co_return kube::Result<void>();
}

std::vector<kube::ObjectKey> TenantController::keys_in_twins(const kube::Informer& objects,
                                                             std::string_view peer) const {
  std::vector<kube::ObjectKey> keys;
  for (const kube::ObjectKey& twin : consumer_namespaces_->store().keys(twins_of_consumer, peer))
    std::ranges::move(objects.store().keys_in(twin.name), std::back_inserter(keys));
  return keys;
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TenantController::delete_shadow_pods(kube::Object tenant) {
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

asio::awaitable<kube::Result<void>> TenantController::remove_replicas(std::string ns, std::string peer) {
  const kube::Selection theirs{.label_selector = kube::label_is(labels::replicated) + "," +
                                                 kube::label_is(labels::replication_origin, peer)};
  for (const kube::Resource& kind : core::replicated_kinds()) {
    std::map<kube::ObjectKey, std::string> left;  // with the UID
    KUBE_CO_TRYV(co_await kube::list_all(context_.home.api(), {.resource = kind, .ns = ns},
                                         {.selection = theirs, .metadata_only = true},
                                         [&left](const kube::Object& object) {
                                           if (!object.is_deleting()) left.emplace(object.key(), object.uid());
                                           return true;
                                         }),
                 "listing what the consumer leaves");
    for (const auto& [key, uid] : left) {
      KUBE_CO_TRYV(co_await kube::remove_object(
          context_.home.api(), kind, key, {.options = {.uid = uid}, .phase = "removing what the consumer leaves"}));
    }
  }
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> TenantController::keep_decisions(kube::Object tenant) {
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key{"", std::string(tenant.ns())};
  auto ns = co_await home.get(kube::resources::namespaces, key);
  if (!ns && ns.error().is_not_found()) co_return kube::Result<void>();
  if (!ns) co_return kube::fail(std::move(ns.error()), "reading the tenant namespace");
  const std::string decisions = core::remember_decisions(tenant);
  if (ns->annotation(api::annotations::tenant_decisions) == decisions || ns->is_deleting())
    co_return kube::Result<void>();
  json::object annotations;
  annotations[api::annotations::tenant_decisions] = decisions.empty() ? json::value(nullptr) : json::value(decisions);
  json::object changes{{"metadata", json::object{{"annotations", std::move(annotations)}}}};
  KUBE_CO_TRYV(co_await kube::merge_patch(
      home, *consumer_namespaces_, key,
      {.body = json::serialize(changes), .phase = "keeping what was decided about the consumer"}));
  co_return kube::Result<void>();
}

asio::awaitable<Outcome> TenantController::tear_down(kube::Object tenant, std::string peer) {
  if (!tenant.has_finalizer(api::finalizers::tenant)) co_return Outcome::done();
  kube::Api& home = context_.home.api();
  const bool other = has_other_tenant(tenant);
  // The rights go first, or the consumer would make again what we remove.
  const kube::ObjectKey binding{std::string(tenant.ns()), core::role_binding_name(core::remote_control_plane_role)};
  auto live = namespaces_.bindings().find(binding);
  if (live && core::is_controlled_by(*live, tenant)) {
    // Another binding with the name may belong to the Tenant, too: 409 is a failure here.
    auto removed = co_await home.remove(api::kinds::role_bindings, binding, {.uid = std::string(live->uid())});
    if (!removed && !removed.error().is_not_found())
      co_return Outcome::retry(std::move(removed.error()).in("taking the consumer's rights"));
  }
  if (!other && !peer.empty()) {
    KUBE_CO_TRYV(co_await forget_leader(peer));
    const kube::ObjectKey wide{"", core::cluster_role_binding_name(core::remote_cluster_wide_role, peer)};
    if (cluster_bindings_->find(wide)) {
      KUBE_CO_TRYV(co_await kube::remove_object(home, api::kinds::cluster_role_bindings, wide,
                                                {.options = {}, .phase = "taking the consumer's rights"}));
    }
    if (namespaces_.peer_of(tenant.ns()) == peer) {
      // The decisions are recorded before the Tenant is removed, so that the next Tenant has them.
      KUBE_CO_TRYV(co_await keep_decisions(tenant));
      KUBE_CO_TRYV(co_await remove_replicas(std::string(tenant.ns()), peer));
    }
  }
  const kube::ObjectKey key = tenant.key();
  KUBE_CO_TRYV(co_await remove_finalizer(home, *tenants_, std::move(tenant), api::finalizers::tenant));
  log_.info("tenant deleted: its rights and requests are gone", {{"tenant", key}, {"cluster", peer}});
  co_return Outcome::done();
}

}  // namespace liqo::controllers
