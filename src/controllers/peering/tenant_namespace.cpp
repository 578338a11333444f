#include "controllers/peering/tenant_namespace.hpp"

#include <algorithm>

#include "controllers/common/ensure_binding.hpp"
#include "core/common/names.hpp"
#include "core/common/peer_names.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/replication.hpp"
#include "kube/client/list_all.hpp"
#include "kube/client/self_review.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/to_keys.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace json = kube::json;

/// The API server's authorizer usually sees a new binding within milliseconds, and within 100 ms or so under load.
constexpr kube::Duration first_pause = 10ms, max_pause = 250ms;
/// The pause between two looks at what is left in a namespace that is being deleted.
constexpr kube::Duration ending_pause = 1s;

kube::ObjectKey own_binding(std::string_view ns) { return {std::string(ns), std::string(core::own_tenant_role)}; }

}  // namespace

TenantNamespaces::TenantNamespaces(Context context)
    : context_(std::move(context)),
      user_(context_.home.api()),
      namespaces_(context_.home.acquire(
          {.resource = kube::resources::namespaces, .selection = core::marked_tenant_namespaces()})),
      bindings_(context_.home.acquire({.resource = api::kinds::role_bindings, .selection = core::kept_by_liqo()})),
      controller_(context_, {.name = "tenant-namespace"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(namespaces_);
  controller_.watch(bindings_, [](const kube::ObjectKey& key) -> std::optional<kube::ObjectKey> {
    if (key.name != core::own_tenant_role) return std::nullopt;
    return kube::to_namespace(key);
  });
}

void TenantNamespaces::watched_by(kube::Controller& controller, const kube::InformerHandle& objects) {
  controller.reads(*this);
  subscribe([&controller, store = &objects->store()](const kube::ObjectKey& key) {
    if (key.name.empty()) controller.enqueue_all(*store, key.ns);
  });
}

std::string TenantNamespaces::peer_of(std::string_view ns) const {
  const auto found = namespaces_->find({"", std::string(ns)});
  if (!found || found->is_deleting() || !core::is_tenant_namespace(*found)) return "";
  const std::string_view peer = found->label(api::labels::remote_cluster_id);
  return core::is_dns_label(peer) ? std::string(peer) : "";
}

std::string TenantNamespaces::annotation(std::string_view ns, std::string_view key) const {
  const auto found = namespaces_->find({"", std::string(ns)});
  return found ? std::string(found->annotation(key)) : "";
}

bool TenantNamespaces::is_ending(std::string_view ns) const {
  const auto found = namespaces_->find({"", std::string(ns)});
  return found && found->is_deleting();
}

kube::Informer* TenantNamespaces::secrets(std::string_view ns) const {
  const auto found = entries_.find(ns);
  if (found == entries_.end() || !found->second.secrets || !found->second.secrets->has_synced()) return nullptr;
  return &*found->second.secrets;
}

std::vector<std::string> TenantNamespaces::readable() const {
  std::vector<std::string> found;
  for (const auto& [ns, entry] : entries_)
    if (secrets(ns)) found.push_back(ns);
  return found;
}

void TenantNamespaces::notify(const kube::ObjectKey& key) const {
  for (const Handler& reader : readers_) reader(key);
}

asio::awaitable<kube::Result<bool>> TenantNamespaces::may_read_secrets(std::string ns) {
  json::object attributes;
  attributes["namespace"] = ns;
  attributes["verb"] = "list";
  attributes["resource"] = "secrets";
  KUBE_CO_TRY(may, co_await kube::may_do(context_.home.api(), std::move(attributes)),
              "asking the cluster what we may do");
  co_return may;
}

bool TenantNamespaces::has_credentials(std::string_view ns) const {
  const kube::Informer* known = secrets(ns);
  if (!known) return true;
  for (const kube::Object& secret : known->objects())
    if (secret.label(api::labels::identity_type) == api::control_plane_identity) return true;
  return false;
}

bool TenantNamespaces::has_guarded(std::string_view ns) const {
  const kube::Informer* known = secrets(ns);
  if (!known) return false;
  for (const kube::Object& secret : known->objects())
    if (secret.has_finalizer(api::finalizers::replication_credentials)) return true;
  return false;
}

void TenantNamespaces::see_secrets(const kube::ObjectKey& key) {
  notify(key);
  const auto binding = bindings_->find(own_binding(key.ns));
  if (!binding) return;
  const bool held = binding->has_finalizer(api::finalizers::tenant_namespace);
  if (held ? !has_credentials(key.ns) : has_guarded(key.ns)) controller_.enqueue({.object = {"", key.ns}});
}

asio::awaitable<kube::Result<void>> TenantNamespaces::hold_rights(std::string ns) {
  const auto binding = bindings_->find(own_binding(ns));
  if (!binding) co_return kube::fail(kube::Errc::missing, "our rights in tenant namespace " + ns + " are not there");
  // An object that is being deleted takes no finalizer.
  if (binding->is_deleting()) co_return kube::Result<void>();
  co_return co_await add_finalizer(context_.home.api(), *bindings_, *binding, api::finalizers::tenant_namespace);
}

asio::awaitable<kube::Result<bool>> TenantNamespaces::release_rights(std::string ns) {
  const auto binding = bindings_->find(own_binding(ns));
  if (!binding || !binding->has_finalizer(api::finalizers::tenant_namespace)) co_return true;
  const kube::ListOptions credentials{
      .selection = {.label_selector = kube::label_is(api::labels::identity_type, api::control_plane_identity)}};
  bool is_needed = false;
  auto listed = co_await kube::list_all(context_.home.api(), {.resource = kube::resources::secrets, .ns = ns},
                                        credentials, [&](const kube::Object& secret) {
                                          // A Secret that has no finalizer yet may get it in a moment, unless the
                                          // namespace is being deleted.
                                          is_needed = secret.has_finalizer(api::finalizers::replication_credentials) ||
                                                      (!is_ending(ns) && !secret.is_deleting());
                                          return !is_needed;
                                        });
  // Without the right to read them we cannot release them either.
  if (!listed && !listed.error().is_forbidden() && !listed.error().is_not_found())
    co_return kube::fail(std::move(listed.error()), "looking for credentials");
  if (is_needed) co_return false;
  KUBE_CO_TRYV(co_await remove_finalizer(context_.home.api(), *bindings_, *binding, api::finalizers::tenant_namespace),
               "letting go of the rights in a tenant namespace");
  co_return true;
}

asio::awaitable<Outcome> TenantNamespaces::reconcile(kube::WorkKey work) {
  const std::string ns = work.object.name;
  if (peer_of(ns).empty()) {
    entries_.erase(ns);
    notify({ns, ""});
    if (!is_ending(ns)) co_return Outcome::done();
    KUBE_CO_TRY(released, co_await release_rights(ns));
    co_return released ? Outcome::done() : Outcome::again_after(ending_pause);
  }
  const auto binding = bindings_->find(own_binding(ns));
  if (binding && (binding->is_deleting() || !has_credentials(ns))) {
    KUBE_CO_TRY(released, co_await release_rights(ns));
    // The removal of the binding enqueues the namespace; until then it gives the same rights as before.
    if (binding->is_deleting() && released) co_return Outcome::done();
  }
  KUBE_CO_TRY(user, co_await user_.name());
  KUBE_CO_TRYV(co_await ensure_binding(context_.home.api(), *bindings_,
                                       core::forge_own_binding(ns, user, core::own_tenant_role)),
               "entering the tenant namespace");
  // Another client has removed the finalizer, or the binding with it.
  if (has_guarded(ns)) {
    KUBE_CO_TRYV(co_await hold_rights(ns));
  }
  if (!entries_[ns].allowed) {
    KUBE_CO_TRY(allowed, co_await may_read_secrets(ns));
    kube::Duration& pause = entries_[ns].pause;
    if (!allowed) {
      pause = std::clamp(pause * 3 / 2, first_pause, max_pause);
      co_return Outcome::again_after(pause);
    }
    entries_[ns].allowed = true;
  }
  // The tenant namespace may be gone since we asked.
  if (peer_of(ns).empty()) co_return Outcome::again_after(0ms);
  kube::InformerHandle& secrets = entries_[ns].secrets;
  if (!secrets) {
    secrets = context_.home.acquire({.resource = kube::resources::secrets, .ns = ns});
    secrets.subscribe([this](const kube::ObjectKey& key) { see_secrets(key); }, [this, ns] { see_secrets({ns, ""}); });
  }
  notify({ns, ""});
  co_return Outcome::done();
}

}  // namespace liqo::controllers
