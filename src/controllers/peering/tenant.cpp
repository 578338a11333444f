#include "controllers/peering/tenant.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "controllers/common/ensure_binding.hpp"
#include "controllers/common/guarded_write.hpp"
#include "controllers/common/is_older.hpp"
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

constexpr kube::Duration max_wait = 24h;
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
      consumer_namespaces_(
          context_.home.acquire({.resource = kube::resources::namespaces,
                                 .selection = {.label_selector = std::string(labels::remote_cluster_id)}})),
      cluster_bindings_(
          context_.home.acquire({.resource = api::kinds::cluster_role_bindings, .selection = core::kept_by_liqo()})),
      namesakes_(cluster_bindings_, context_),
      drain_(namespaces, context_),
      heartbeat_(tenants_, context_),
      policies_(namespaces, context_),
      controller_(context_, {.name = "tenant"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      leader_bindings_(namespaces, tenants_, controller_, context_) {
  const auto all = [this] { controller_.enqueue_all(tenants_->store()); };
  controller_.watch(
      tenants_,
      [this](const kube::Change& tenant) {
        const kube::Object* before = tenant.previous();
        if (before && (!tenant.now || tenant.now->uid() != before->uid())) forget(before->uid());
        if (before && !tenant.now) leader_bindings_.see_all();
        controller_.enqueue_all(tenants_->store(), tenant.key.ns);
      },
      all);
  controller_.watch(slices_, [this](const kube::ObjectKey& key) { see_slice(key); }, all);
  drain_.watched_by(controller_);
  controller_.watch(cluster_bindings_, [all](const kube::ObjectKey&) { all(); }, all);
  controller_.reads(namespaces_, consumer_namespaces_);
  namespaces_.subscribe_bindings([this](const kube::ObjectKey& key) {
    controller_.enqueue_all(tenants_->store(), key.ns);
    leader_bindings_.see(key);
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

void TenantController::forget(std::string_view uid) {
  reported_conditions_.erase(std::string(uid));
  namesakes_.forget(uid);
  drain_.forget(uid);
  heartbeat_.forget(uid);
  policies_.forget(uid);
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

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TenantController::enforce_condition(kube::Object tenant) {
  report_condition(tenant);
  const api::Tenant view(tenant);
  const std::string ns(tenant.ns()), peer(view.cluster_id());
  KUBE_CO_TRYV(co_await mark_slices(ns, peer, view.condition() != api::TenantCondition::active));
  co_return co_await drain_.go_on(std::move(tenant));
}

asio::awaitable<Outcome> TenantController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  if (LeaderBindings::is_binding(work)) co_return co_await leader_bindings_.reconcile(key);
  const auto found = tenants_->find(key);
  if (!found) co_return Outcome::done();
  const kube::Object& tenant = *found;
  const api::Tenant view(tenant);
  const std::string peer(view.cluster_id());
  if (tenant.is_deleting()) co_return co_await tear_down(tenant, peer);
  // Nothing can be created in a namespace that is being deleted, not even an Event.
  if (namespaces_.is_ending(key.ns) || is_misplaced(tenant)) co_return Outcome::done();
  if (const auto due = policies_.report(tenant)) controller_.enqueue_after(work, *due);
  kube::Api& home = context_.home.api();
  KUBE_CO_TRYV(co_await add_finalizer(home, *tenants_, tenant, api::finalizers::tenant));

  KUBE_CO_TRY(next_drain, co_await enforce_condition(tenant));
  KUBE_CO_TRY(has_namesake_here, co_await namesakes_.has_any(tenant));
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
    co_await leader_bindings_.bind(peer);
    KUBE_CO_TRYV(co_await write_status(key, std::nullopt));
  }
  KUBE_CO_TRYV(co_await ensure_binding(home, *cluster_bindings_,
                                       core::forge_cluster_role_binding(peer, core::remote_cluster_wide_role)));
  if (next_drain) co_return Outcome::again_after(*next_drain);
  KUBE_CO_TRY(heartbeat, co_await heartbeat_.watch(tenant));
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
  co_await leader_bindings_.bind(std::string(view.cluster_id()));
  KUBE_CO_TRYV(co_await write_status(tenant.key(), std::move(issued.auth_params)));
  if (!core::was_admitted(view))
    log_.info("tenant admitted", {{"tenant", tenant.key()}, {"cluster", view.cluster_id()}});
  if (issued.renewed)
    context_.events.normal(
        tenant, api::kinds::tenants, "CertificateIssued",
        "the consumer has a certificate; it will be renewed at " + kube::format_time(issued.renew_at));
  co_return issued.renew_at;
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
    KUBE_CO_TRYV(co_await leader_bindings_.unbind(peer));
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
