#include "peering/removal.hpp"

#include "core/common/peer_names.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "model/objects.hpp"
#include "model/selectors.hpp"
#include "session/find_one.hpp"
#include "session/wait.hpp"

namespace liqoctl {

namespace core = liqo::core;
namespace kinds = liqo::api::kinds;

void add_delete_namespaces(cli::Command app, DeleteNamespaces& into) {
  app.flag("--delete-namespaces", into, true,
           "Delete the tenant namespaces whoever made them; by default those that liqoctl made");
  app.flag("--keep-namespaces", into, false, "Delete no tenant namespace");
}

asio::awaitable<Result<void>> remove_all(Session& session, Cluster& cluster, Selection selection, bool wait) {
  const kube::Resource& resource = selection.resource;
  KUBE_CO_TRY(found, co_await cluster.list(resource, selection.ns, selection.label_selector), cluster.scope());
  for (const Object& object : found) {
    KUBE_CO_TRYV(co_await cluster.remove(resource, object.key()), cluster.scope());
  }
  if (session.flags().dry_run || !wait) co_return Result<void>();
  const std::string what = std::string(resource.kind) + "s";
  KUBE_CO_TRYV(co_await wait_for_absence(cluster, {.what = what + " to go", .deadline = session.deadline()}, selection),
               cluster.scope());
  if (!found.empty())
    session.output().success(cluster.scope(), std::to_string(found.size()) + " " +
                                                  (found.size() == 1 ? std::string(resource.kind) : what) + " deleted");
  co_return Result<void>();
}

asio::awaitable<Result<void>> release_twins(Session& session, Cluster& consumer, std::string provider) {
  auto done = co_await remove_all(
      session, consumer, {.resource = kinds::namespace_maps, .label_selector = model::towards(provider)}, false);
  // If this user may not delete them, liqod deletes the maps of twins without data of volumes.
  if (!done && !done.error().is_forbidden()) co_return done;
  co_return Result<void>();
}

asio::awaitable<Result<void>> delete_objects(Session& session, kube::Resource resource, DeleteFlags flags,
                                             DeleteWords words) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  std::vector<kube::ObjectKey> keys;
  for (const std::string& name : flags.names) {
    KUBE_CO_TRY(key, co_await find_one(cluster, resource, name, flags.provider));
    keys.push_back(std::move(key));
  }
  const std::string kind(resource.kind);
  const std::string named = kube::join(keys | std::views::transform(&kube::ObjectKey::text), ", ");
  if (auto yes =
          co_await session.confirm(kind + " " + named + " will be deleted: " + std::string(words.question) + ".");
      !yes)
    co_return yes;
  for (const kube::ObjectKey& key : keys) {
    KUBE_CO_TRYV(co_await cluster.remove(resource, key));
  }
  if (session.flags().dry_run || !flags.wait) co_return Result<void>();
  const std::function<std::string(const Object&)> seen = [&words](const Object&) { return std::string(words.waiting); };
  for (const kube::ObjectKey& key : keys) {
    KUBE_CO_TRYV(co_await wait_for_object_to_go(
        cluster, {.what = kind + " " + key.name + " to go", .deadline = session.deadline()},
        {.resource = resource, .key = key, .blame = Blame::warnings}, seen));
    session.output().success(cluster.scope(), kind + " " + key.name + " deleted");
  }
  co_return Result<void>();
}

asio::awaitable<Result<void>> delete_object(Session& session, kube::Resource resource, NamedObject named,
                                            std::string_view consequence) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(key, co_await find_one(cluster, resource, named.name, named.peer));
  const std::string kind(resource.kind);
  KUBE_CO_TRYV(co_await session.confirm(kind + " " + key.text() + " will be deleted" + std::string(consequence)));
  KUBE_CO_TRYV(co_await cluster.remove(resource, key));
  if (!session.flags().dry_run) session.output().success(cluster.scope(), kind + " " + key.name + " deleted");
  co_return Result<void>();
}

asio::awaitable<Result<std::string>> delete_namespace(Session& session, DeleteNamespaces which, Cluster& cluster,
                                                      std::string peer) {
  KUBE_CO_TRY(found, co_await cluster.tenant_namespace(peer), cluster.scope());
  if (!found.exists || (which && !*which)) co_return std::string();
  KUBE_CO_TRY(ns, co_await cluster.find(kube::resources::namespaces, {"", found.name}), cluster.scope());
  if (!ns) co_return std::string();
  if (!which && ns->annotation(model::made_by) != model::made_by_liqoctl) {
    session.output().info(cluster.scope(), "tenant namespace " + found.name +
                                               " was not made by liqoctl and stays (--delete-namespaces deletes it)");
    co_return std::string();
  }
  if (!which) {
    // The namespace holds the rights of the peering user, which the next peering needs. The peering user itself may not
    // list them.
    auto users = co_await cluster.list(kinds::role_bindings, found.name, model::of_peering_user(peer));
    if (users && !users->empty()) {
      session.output().info(cluster.scope(), "tenant namespace " + found.name + " stays, because " + peer +
                                                 " has a peering user (liqoctl delete peering-user removes both)");
      co_return std::string();
    }
  }
  auto removed = co_await cluster.remove(kube::resources::namespaces, {"", found.name});
  if (!removed && removed.error().is_forbidden()) {
    session.output().info(cluster.scope(), "tenant namespace " + found.name + " stays: this user may not delete it");
    co_return std::string();
  }
  if (!removed) co_return kube::fail(std::move(removed.error()), cluster.scope());
  co_return found.name;
}

asio::awaitable<Result<void>> forget_identity(Session& session, Cluster& consumer, std::string provider,
                                              std::string ns) {
  const kube::ObjectKey key{ns, core::control_plane_identity_name(provider)};
  KUBE_CO_TRY(removed, co_await consumer.remove(kinds::identities, key), consumer.scope());
  if (session.flags().dry_run) co_return Result<void>();
  // liqod removes the Secret when nothing is left to replicate to that provider.
  KUBE_CO_TRYV(
      co_await wait_for_absence(
          consumer, {.what = "the credentials at " + provider + " to be withdrawn", .deadline = session.deadline()},
          {.resource = kube::resources::secrets,
           .ns = ns,
           .label_selector = model::about(provider) + "," + model::control_plane_secrets()}),
      consumer.scope());
  session.output().success(consumer.scope(),
                           removed ? "Identity " + key.name + " deleted" : "Identity " + key.name + " was not there");
  co_return Result<void>();
}

asio::awaitable<Result<void>> forget_tenant(Session& session, Cluster& provider, std::string consumer, std::string ns) {
  KUBE_CO_TRY(tenants, co_await provider.list(kinds::tenants, ns), provider.scope());
  bool any = false;
  for (const Object& tenant : tenants) {
    if (kube::string_at(tenant.spec(), {"clusterID"}) != consumer) continue;
    any = true;
    KUBE_CO_TRYV(co_await provider.remove(kinds::tenants, tenant.key()), provider.scope());
  }
  if (session.flags().dry_run) co_return Result<void>();
  KUBE_CO_TRYV(
      co_await wait_for_absence(provider, {.what = "Tenant " + consumer + " to go", .deadline = session.deadline()},
                                {.resource = kinds::tenants, .ns = ns, .label_selector = model::about(consumer)}),
      provider.scope());
  session.output().success(provider.scope(),
                           any ? "Tenant " + consumer + " deleted" : "Tenant " + consumer + " was not there");
  co_return Result<void>();
}

asio::awaitable<void> sweep_secrets(Cluster& cluster, std::string peer, std::string ns, bool provider) {
  // By name, because a peering user may delete this Secret but not list Secrets.
  const std::string_view fixed = provider ? core::nonce_secret : core::signed_nonce_secret;
  auto done = co_await cluster.remove(kube::resources::secrets, {ns, std::string(fixed)});
  if (!done && !done.error().is_forbidden()) cluster.output().warn(cluster.scope(), done.error().text());
  auto secrets = co_await cluster.list(kube::resources::secrets, ns, model::about(peer));
  if (!secrets) co_return;
  for (const Object& secret : *secrets) {
    const bool nonce = secret.has_label(provider ? liqo::api::labels::nonce : liqo::api::labels::signed_nonce);
    const bool certificate = provider && secret.name().starts_with(core::certificate_secret_name(""));
    if (!nonce && !certificate) continue;
    auto removed = co_await cluster.remove(kube::resources::secrets, secret.key());
    if (!removed) cluster.output().warn(cluster.scope(), removed.error().text());
  }
}

}  // namespace liqoctl
