#include "unauthenticate.hpp"

#include <algorithm>

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/authentication/names.hpp"
#include "wait.hpp"

namespace liqoctl {
namespace {

namespace core = liqo::core;
namespace kinds = liqo::api::kinds;
namespace labels = liqo::api::labels;
using kube::Errc;

std::string about(const std::string& peer) { return std::string(labels::remote_cluster_id) + "=" + peer; }

asio::awaitable<Result<void>> forget_identity(Session& session, Cluster& consumer, std::string provider,
                                              std::string ns) {
  const kube::ObjectKey key{ns, core::control_plane_identity_name(provider)};
  auto removed = co_await consumer.remove(kinds::identities, key);
  if (!removed) co_return kube::fail(std::move(removed.error()), consumer.scope());
  if (session.flags().dry_run) co_return Result<void>();
  // The Secret ends the replication to that provider: it goes when nothing is left to be replicated.
  auto gone = co_await wait_for_absence(consumer, session.deadline(), kube::resources::secrets, ns,
                                        about(provider) + ",liqo.io/identity-type=ControlPlane",
                                        "the credentials at " + provider + " to be withdrawn");
  if (!gone) co_return kube::fail(std::move(gone.error()), consumer.scope());
  session.output().success(consumer.scope(),
                           *removed ? "Identity " + key.name + " deleted" : "Identity " + key.name + " was not there");
  co_return Result<void>();
}

asio::awaitable<Result<void>> forget_tenant(Session& session, Cluster& provider, std::string consumer, std::string ns) {
  auto tenants = co_await provider.list(kinds::tenants, ns);
  if (!tenants) co_return kube::fail(std::move(tenants.error()), provider.scope());
  bool any = false;
  for (const Object& tenant : *tenants) {
    if (kube::string_at(tenant.spec(), {"clusterID"}) != consumer) continue;
    any = true;
    auto removed = co_await provider.remove(kinds::tenants, tenant.key());
    if (!removed) co_return kube::fail(std::move(removed.error()), provider.scope());
  }
  if (session.flags().dry_run) co_return Result<void>();
  auto gone = co_await wait_for_absence(provider, session.deadline(), kinds::tenants, ns, about(consumer),
                                        "Tenant " + consumer + " to go");
  if (!gone) co_return kube::fail(std::move(gone.error()), provider.scope());
  session.output().success(provider.scope(),
                           any ? "Tenant " + consumer + " deleted" : "Tenant " + consumer + " was not there");
  co_return Result<void>();
}

/// What nobody owns: the nonce, its signature, issued certificates. Somebody who may not delete them leaves them.
asio::awaitable<void> sweep(Session& session, Cluster& cluster, std::string peer, std::string ns, bool provider) {
  // Those that have a fixed name by that: a peering user may delete it, but not look around.
  const std::string_view fixed = provider ? core::nonce_secret : core::signed_nonce_secret;
  auto done = co_await cluster.remove(kube::resources::secrets, {ns, std::string(fixed)});
  if (!done && !done.error().is_forbidden()) session.output().warn(cluster.scope(), done.error().text());
  auto secrets = co_await cluster.list(kube::resources::secrets, ns, about(peer));
  if (!secrets) co_return;
  for (const Object& secret : *secrets) {
    const bool nonce = secret.has_label(provider ? "liqo.io/nonce" : "liqo.io/signed-nonce");
    const bool certificate = provider && secret.name().starts_with(core::certificate_secret_name(""));
    if (!nonce && !certificate) continue;
    auto removed = co_await cluster.remove(kube::resources::secrets, secret.key());
    if (!removed) session.output().warn(cluster.scope(), removed.error().text());
  }
}

}  // namespace

asio::awaitable<Result<void>> unauthenticate(Session& session, Session::Pair pair) {
  auto home = co_await pair.consumer->tenant_namespace(pair.provider_id);
  if (!home) co_return kube::fail(std::move(home.error()), pair.consumer->scope());
  auto away = co_await pair.provider->tenant_namespace(pair.consumer_id);
  if (!away) co_return kube::fail(std::move(away.error()), pair.provider->scope());
  if (home->exists) {
    const std::string towards = std::string(labels::replication) + "=true," +
                                std::string(labels::replication_destination) + "=" + pair.provider_id;
    auto slices = co_await pair.consumer->list(kinds::resource_slices, "", towards);
    if (!slices) co_return kube::fail(std::move(slices.error()), pair.consumer->scope());
    // Those that are ending already do so with the credentials, which stay until then.
    const auto left = std::ranges::count_if(*slices, [](const Object& slice) { return !slice.is_deleting(); });
    if (left > 0 && !session.flags().dry_run)
      co_return kube::fail(Errc::invalid_input, "there are still " + std::to_string(left) + " ResourceSlices towards " +
                                                    pair.provider_id + " in cluster " + pair.consumer_id +
                                                    ": delete them first, or use liqoctl unpeer");
    auto done = co_await forget_identity(session, *pair.consumer, pair.provider_id, home->name);
    if (!done) co_return done;
  }
  if (away->exists) {
    auto done = co_await forget_tenant(session, *pair.provider, pair.consumer_id, away->name);
    if (!done) co_return done;
    co_await sweep(session, *pair.provider, pair.consumer_id, away->name, true);
  }
  if (home->exists) co_await sweep(session, *pair.consumer, pair.provider_id, home->name, false);
  co_return Result<void>();
}

}  // namespace liqoctl
